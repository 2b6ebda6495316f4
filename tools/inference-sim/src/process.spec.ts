import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

interface StartedProcess {
  child: ChildProcess;
  url: string;
  exit: Promise<number | null>;
}

const children: ChildProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), 'inference-sim-'));

beforeAll(() => {
  if (!existsSync(MAIN))
    throw new Error(
      'these tests start the built program: run `npx tsc -b tools/inference-sim/tsconfig.lib.json` first',
    );
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function run(...flags: string[]): { child: ChildProcess; output: () => string; exit: Promise<number | null> } {
  const child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let output = '';
  child.stdout!.on('data', (text) => (output += String(text)));
  child.stderr!.on('data', (text) => (output += String(text)));
  return { child, output: () => output, exit: once(child, 'close').then(([code]) => code as number | null) };
}

async function start(...flags: string[]): Promise<StartedProcess> {
  const { child, output, exit } = run('--port', '0', '--model', 'm', ...flags);
  while (!output().includes('\n'))
    await Promise.race([once(child.stdout!, 'data'), exit.then(() => Promise.reject(new Error(output())))]);
  return { child, exit, url: /url=(\S+)/.exec(output())![1]! };
}

const complete = (url: string, body: object = {}): Promise<Response> =>
  fetch(`${url}/v1/completions`, { method: 'POST', body: JSON.stringify({ model: 'm', prompt: 'x', ...body }) });

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: refuses new connections, finishes requests in flight, exits 0',
    async (signal) => {
      const { child, url, exit } = await start('--tokens=20', '--itl-ms=40');
      const stream = (await complete(url, { stream: true })).body!.getReader();
      let text = new TextDecoder().decode((await stream.read()).value);
      const whole = complete(url);
      await inFlight(url, 2);
      child.kill(signal);
      await refused(url);

      for (let piece = await stream.read(); !piece.done; piece = await stream.read())
        text += new TextDecoder().decode(piece.value);
      expect(text).toContain('data: [DONE]');
      expect((await whole).status).toBe(200);
      expect(await exit).toBe(0);
    },
  );

  it('exits 0 at once when only idle and unused connections are left', async () => {
    const { child, url, exit } = await start();
    await (await complete(url)).text(); // leaves a kept-alive connection in fetch's pool
    const unused = connect(Number(new URL(url).port), '127.0.0.1');
    unused.on('error', () => undefined);
    await once(unused, 'connect');
    await (await complete(url)).text(); // by now the server has accepted the unused one
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    unused.destroy();
  });
});

async function inFlight(url: string, number: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (text.includes(`inference_sim_requests_in_flight ${number}\n`)) return;
  }
  throw new Error(`there were never ${number} requests in flight`);
}

/** Polls until nothing listens any more, because the signal arrives some time after it was sent. */
async function refused(url: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline) {
    const outcome = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(() => 'refused' as const);
    if (outcome === 'refused') return;
    await outcome.text();
  }
  throw new Error(`${url} still accepts connections`);
}

describe('crashes', () => {
  it('--crash-after N answers N requests, then exits with 1', async () => {
    const { url, exit } = await start('--crash-after', '3');
    await (await fetch(`${url}/health`)).text(); // probes do not count
    for (let index = 0; index < 3; index += 1)
      expect((await (await complete(url)).json()) as object).toHaveProperty('usage');
    expect(await exit).toBe(1);
    await expect(complete(url)).rejects.toThrow();
  });

  it('--crash-after-ms exits with 1 by itself', async () => {
    const { exit } = await start('--crash-after-ms=150');
    expect(await exit).toBe(1);
  });
});

describe('start log', () => {
  it('has one line for each start, including one that cannot bind its port', async () => {
    const file = join(folder, 'starts.jsonl');
    const first = await start('--start-log', file);
    const second = await start(`--start-log=${file}`);
    const port = Number(new URL(first.url).port);
    const third = run('--port', String(port), '--model', 'late', '--start-log', file);
    expect(await third.exit).toBe(1);

    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toEqual([
      { pid: first.child.pid, port, model: 'm', started_at: expect.any(String) },
      { pid: second.child.pid, port: Number(new URL(second.url).port), model: 'm', started_at: expect.any(String) },
      { pid: third.child.pid, port, model: 'late', started_at: expect.any(String), error: 'EADDRINUSE' },
    ]);
    expect(Math.abs(Date.parse(lines[0]!['started_at'] as string) - Date.now())).toBeLessThan(60_000);
    rmSync(folder, { recursive: true });
  });

  it('refuses to run if it cannot write the requested log', async () => {
    const { exit, output } = run('--port=0', '--start-log=/nowhere/at/all');
    expect(await exit).toBe(1);
    expect(output()).toContain('cannot write the start log');
  });
});

describe('bad starts', () => {
  it('exits 1 with a message if the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { exit, output } = run(`--port=${port}`);
    expect(await exit).toBe(1);
    expect(output()).toBe(`inference-sim: cannot listen on 127.0.0.1:${port}: the address is already in use\n`);
    taken.close();
  });

  it('exits 64 with the usage on a bad flag, and 0 for --help', async () => {
    const bad = run('--error-rate', '2');
    expect(await bad.exit).toBe(64);
    expect(bad.output()).toMatch(/--error-rate must be .* not "2"[\s\S]*usage:/);
    const help = run('--help');
    expect(await help.exit).toBe(0);
    expect(help.output()).toMatch(/^usage:/);
  });
});

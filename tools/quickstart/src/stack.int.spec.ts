import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { childEnvironment, readStackFile } from '@slipway/platform-config';
import pg from 'pg';
import { identify } from './process-identity.js';

jest.setTimeout(120_000);

// The launcher under test is a process of its own, which gets signals, so it runs what the build made. The three
// processes are stand-ins that answer /readyz, say ready, and write down what they are told.
const foreground = new URL('../dist/foreground.js', import.meta.url).href;
const standIn = fileURLToPath(new URL('../test/stand-in.mjs', import.meta.url));

let folder: string;
let home: string;
const launchers: Launcher[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-stack-'));
  chmodSync(folder, 0o755);
  home = path.join(folder, 'home');
  for (const name of ['api', 'worker', 'gateway', 'migrate']) copyFileSync(standIn, path.join(folder, `${name}.mjs`));
});

afterEach(async () => {
  for (const launcher of launchers.splice(0)) await launcher.end();
  rmSync(folder, { recursive: true, force: true });
});

class Launcher {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly exit: Promise<number | null>;

  constructor(env: Record<string, string | undefined> = {}) {
    const entries = Object.fromEntries(
      ['api', 'worker', 'gateway', 'migrate'].map((name) => [name, path.join(folder, `${name}.mjs`)]),
    );
    const script = `const { runInForeground } = await import(${JSON.stringify(foreground)}); await runInForeground({ entries: ${JSON.stringify(entries)} });`;
    this.child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      env: childEnvironment({
        SLIPWAY_HOME: home,
        SLIPWAY_API_PORT: '0',
        SLIPWAY_GATEWAY_PORT: '0',
        DATABASE_URL: undefined,
        REDIS_URL: undefined,
        NODE_ENV: undefined,
        NODE_OPTIONS: undefined,
        npm_lifecycle_event: undefined,
        STAND_IN_FOLDER: folder,
        ...env,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr?.on('data', (chunk) => (this.stderr += chunk));
    this.exit = new Promise((resolve) => this.child.once('exit', resolve));
    launchers.push(this);
  }

  async ready(): Promise<{ api: string; gateway: string }> {
    await until(
      () => this.stdout.includes('\n') || this.child.exitCode !== null,
      () => this.stderr,
    );
    const match = /^slipway ready api=(\S+) gateway=(\S+)\n$/.exec(this.stdout);
    if (!match) throw new Error(`not the ready line: ${JSON.stringify(this.stdout)}\n${this.stderr}`);
    return { api: match[1] as string, gateway: match[2] as string };
  }

  async end(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    await this.exit;
  }
}

const until = async (condition: () => boolean, explain: () => string = () => ''): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`did not come to be\n${explain()}`);
    await delay(20);
  }
};

/** What the stand-ins wrote down: `<name> <what>` lines. */
const notes = (): string[] =>
  existsSync(path.join(folder, 'notes')) ? readFileSync(path.join(folder, 'notes'), 'utf8').trim().split('\n') : [];
/** That these lines were written, and in this order. */
const expectInOrder = (...wanted: string[]): void => {
  const lines = notes();
  expect(lines).toEqual(expect.arrayContaining(wanted));
  const places = wanted.map((line) => lines.indexOf(line));
  expect(places).toEqual([...places].sort((a, b) => a - b));
};
const pidOf = (name: string): number =>
  Number(
    notes()
      .findLast((line) => line.startsWith(`${name} pid `))
      ?.split(' ')[2],
  );
const started = (name: string): number => notes().filter((line) => line.startsWith(`${name} pid `)).length;
const isAlive = (pid: number): boolean => identify(pid) !== undefined;
const databaseAnswers = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};

describe('the launcher', () => {
  it('migrates, starts all three, says so in one line, and stops in order', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    expect(notes()[0]).toBe('migrate owner slipway_owner');
    const url = readStackFile(home)?.databaseUrl ?? '';
    expect(await databaseAnswers(url)).toBe(true);

    const token = readFileSync(path.join(home, 'bootstrap-token'), 'utf8').trim();
    expect(token).toMatch(/^slw_[a-z0-9]{12}_[0-9a-f]{64}$/);
    expect(launcher.stderr.split(token)).toHaveLength(2);
    expect(notes()).toContain(`api token ${token}`);
    expect(notes()).toContain('worker token none');
    for (const file of ['bootstrap-token', 'secret-key', 'run/stack.json'])
      expect(statSync(path.join(home, file)).mode & 0o777).toBe(0o600);

    const pids = ['api', 'worker', 'gateway'].map(pidOf);
    launcher.child.kill('SIGINT');
    launcher.child.kill('SIGINT');
    expect(await launcher.exit).toBe(0);
    expect(
      notes()
        .filter((line) => line.startsWith('worker '))
        .slice(-2),
    ).toEqual(['worker message slipway:stop-engines', 'worker signal SIGTERM']);
    // The worker is stopped last: requests need its engines until they are answered.
    for (const name of ['api', 'gateway']) expectInOrder(`${name} signal SIGTERM`, 'worker signal SIGTERM');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await databaseAnswers(url)).toBe(false);
    expect(readStackFile(home)).toBeUndefined();
    expect(launcher.stdout.split('\n')).toHaveLength(2);
  });

  it('starts a dead process again, and Postgres too', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    process.kill(pidOf('worker'), 'SIGKILL');
    await until(() => started('worker') === 2);
    expect(launcher.stderr).toContain('worker | ended with SIGKILL; started again in 0.1 s');

    const url = readStackFile(home)?.databaseUrl ?? '';
    process.kill(
      Number(readFileSync(path.join(home, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
      'SIGKILL',
    );
    await until(() => launcher.stderr.includes('postgres ended'));
    const deadline = Date.now() + 30_000;
    while (!(await databaseAnswers(url)) && Date.now() < deadline) await delay(50);
    expect(await databaseAnswers(url)).toBe(true);
    launcher.child.kill('SIGTERM');
    expect(await launcher.exit).toBe(0);
  });

  it('killed, leaves nothing that breaks the next start on the same ports', async () => {
    const first = new Launcher();
    const { api, gateway } = await first.ready();
    const pids = ['api', 'worker', 'gateway'].map(pidOf);
    first.child.kill('SIGKILL');
    await first.exit;

    const second = new Launcher({ SLIPWAY_API_PORT: new URL(api).port, SLIPWAY_GATEWAY_PORT: new URL(gateway).port });
    expect(await second.ready()).toEqual({ api, gateway });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(second.stderr).not.toContain('bootstrap token');
  });

  it('refuses a second stack in the same home', async () => {
    await new Launcher().ready();
    const second = new Launcher();
    expect(await second.exit).toBe(1);
    expect(second.stderr).toContain('Slipway already runs in');
  });

  it('keeps a port that was asked for, and exchanges the default one', async () => {
    const squatter = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => squatter.once('listening', resolve));
    const { port } = squatter.address() as net.AddressInfo;
    const launcher = new Launcher({ SLIPWAY_API_PORT: String(port) });
    expect(await launcher.exit).toBe(1);
    expect(launcher.stderr).toContain(`SLIPWAY_API_PORT: port ${port} is taken`);
    squatter.close();
  });

  it('ends with 78 where the configuration is wrong, before it starts anything', async () => {
    const launcher = new Launcher({ SLIPWAY_LEASE_SECONDS: 'long', NODE_ENV: 'production' });
    expect(await launcher.exit).toBe(78);
    for (const name of ['SLIPWAY_LEASE_SECONDS', 'DATABASE_URL', 'SLIPWAY_SECRET_KEY'])
      expect(launcher.stderr).toContain(`- ${name} `);
    expect(existsSync(home)).toBe(false);
  });

  it('does not hang on a process that refuses its configuration, nor on a failed migration', async () => {
    const refusing = new Launcher({ STAND_IN_EXIT: 'gateway 78' });
    expect(await refusing.exit).toBe(78);
    const failing = new Launcher({ STAND_IN_EXIT: 'migrate 1' });
    expect(await failing.exit).toBe(1);
    expect(failing.stderr).toContain('The migration failed');
  });
});

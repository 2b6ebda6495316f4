import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { SEALED } from '@slipway/registry';
import { consoleAt, signInAt } from '../console/console-browser.js';
import { Stack, until } from '../harness/stack.js';

const COMMAND = fileURLToPath(new URL('../../dist/rotate-secret-key.js', import.meta.url));
const LONG_MS = 240_000;

const [OLD, NEW] = [Buffer.alloc(32, 9), Buffer.alloc(32, 10)];
const base64 = (key: Buffer): string => key.toString('base64');
const [oldId, newId] = [new KeyRing(OLD).current.id, new KeyRing(NEW).current.id];
const ROTATED = { SLIPWAY_SECRET_KEY: base64(NEW), SLIPWAY_SECRET_KEYS_OLD: base64(OLD) };

let stack: Stack;
let engine: Server;
/** The key that the model server last received. */
let carried: string | undefined;

beforeAll(async () => {
  engine = createServer((request, response) => {
    if (request.url?.endsWith('/chat/completions')) carried = request.headers.authorization;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'chat.completion', model: 'm', choices: [], usage: {} }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => engine.once('listening', resolve));
  stack = await Stack.start({
    gateway: true,
    config: (home) => {
      mount(home, 'sk-first');
      const secrets = `secrets: {engine: {file: ${JSON.stringify(path.join(home, 'engine-key'))}}}`;
      return `targets:\n  - name: adopted\n    kind: endpoint\n    allow: ["http://127.0.0.1:*"]\noutbound: {webhooks: ["http://127.0.0.1:*"]}\n${secrets}\n`;
    },
  });
}, 120_000);

afterAll(async () => {
  await stack?.stop();
  engine.closeAllConnections();
  engine.close();
});

/** Replaces a mounted secret as Kubernetes does: a link is replaced, and no file is ever written. */
function mount(home: string, value: string): void {
  writeFileSync(path.join(home, value), value);
  symlinkSync(value, path.join(home, 'engine-key.next'));
  renameSync(path.join(home, 'engine-key.next'), path.join(home, 'engine-key'));
}

/** Runs the built command as an operator would. */
function rotate(env: Record<string, string>, ...args: string[]): Promise<{ status: number; out: string }> {
  const full = { PATH: process.env['PATH'], DATABASE_URL: stack.testDatabase.url, ...env };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, ...args], { env: full, cwd: stack.home }, (_, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, out: stdout + stderr }),
    );
  });
}

async function restart(env: Record<string, string>): Promise<void> {
  const apps = ['gateway', 'worker', 'api'] as const;
  await Promise.all(apps.map((app) => stack.kill(app)));
  for (const app of apps) stack.spawn(app, 0, env);
  await stack.ready();
}

async function chat(): Promise<number> {
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'x' }] }),
  });
  await answer.text();
  return answer.status;
}

const carries = (credential: string, limitMs?: number): Promise<void> =>
  until(
    `requests to carry ${credential}`,
    async () => (await chat()) === 200 && carried === `Bearer ${credential}`,
    limitMs,
    () => String(carried),
  );

const baseUrl = (): string => `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;

async function deploy(): Promise<void> {
  await stack.slipway().deployments.create({ name: 'chat' });
  const id = await stack.rollOut('chat', {
    spec: {
      model: { id: 'm' },
      runtime: { target: 'adopted' },
      endpoint: { base_url: baseUrl(), protocol: 'openai', health_path: '/health', credential_ref: 'engine' },
    },
    strategy: { type: 'immediate' },
  });
  expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
}

it(
  'requests carry the new value of an operator’s secret within a second of the check that sees the replaced file',
  async () => {
    await deploy();
    await carries('sk-first');
    const times: number[] = [];
    for (const value of ['sk-second', 'sk-third', 'sk-fourth']) {
      const replacedAt = performance.now();
      mount(stack.home, value);
      await carries(value, 10_000);
      times.push(Math.round(performance.now() - replacedAt));
    }
    if (process.env['SLIPWAY_TEST_VERBOSE']) process.stderr.write(`file to requests: ${times.join(', ')} ms\n`);
    // The best of three, because other suites use the machine at the same time.
    expect(Math.min(...times)).toBeLessThan(3_000);
  },
  LONG_MS,
);

it(
  'a key is rotated while processes run: everything is sealed again, and the old key can be removed',
  async () => {
    const hook = { url: `${baseUrl()}/hook` };
    for (let n = 0; n < 3; n += 1) await stack.slipway().webhooks.create(hook);
    const session = await signInAt(stack.apiUrl(), stack.token);
    expect(await rotate({ SLIPWAY_SECRET_KEY: base64(OLD) }, '--check')).toEqual({
      status: 0,
      out: `key ${oldId} current sealed=5\n`,
    });
    expect(await rotate(ROTATED, '--check')).toEqual({
      status: 1,
      out: `key ${newId} current sealed=0\nkey ${oldId} old sealed=5\n`,
    });
    await restart(ROTATED);
    await carries('sk-fourth');
    const both = await Promise.all([rotate(ROTATED), rotate(ROTATED)]);
    for (const { out } of both) expect(out).not.toContain('no key can decrypt');
    expect(await rotate({ SLIPWAY_SECRET_KEY: base64(NEW) }, '--check')).toEqual({
      status: 0,
      out: `key ${newId} current sealed=5\n`,
    });
    await carries('sk-fourth');
    // An engine continues with the key that it was given, so the key it was derived from is still needed.
    await stack.query('update instances set key_id = $1', [oldId]);
    expect(await rotate(ROTATED, '--check')).toEqual({
      status: 1,
      out: `key ${newId} current sealed=5\nkey ${oldId} old sealed=0 engines=1\n`,
    });
    await stack.query('update instances set key_id = null');

    await restart({ SLIPWAY_SECRET_KEY: base64(NEW) });
    await carries('sk-fourth');
    expect((await consoleAt(stack.apiUrl(), session).whoAmI()).tenant.name).toBe('default');
    await stack.slipway().webhooks.create(hook);
  },
  LONG_MS,
);

it(
  'api and worker with another key report that at their start and exit with 78',
  async () => {
    for (const app of ['api', 'worker'] as const) {
      await stack.kill(app);
      const child = stack.spawn(app, 0, { SLIPWAY_SECRET_KEY: base64(OLD) });
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(78);
      expect(stack.logOf(app)).toContain(`sealed with key ${newId}: SLIPWAY_SECRET_KEY is key ${oldId}`);
      stack.spawn(app, 0, { SLIPWAY_SECRET_KEY: base64(NEW) });
    }
    await stack.ready();
  },
  LONG_MS,
);

it('the rotation knows every column that a migration marks as sealed', async () => {
  const rows = await stack.query<{ name: string }>(`
    select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and col_description(c.oid, a.attnum) ~* 'sealed'
      and c.relname not in ('audit_log', 'audit_heads') order by 1`);
  expect(rows.map(({ name }) => name)).toEqual(SEALED.map(({ table, column }) => `${table}.${column}`).sort());
});

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { refusalOf } from '../harness/refusals.js';
import { Stack, until, type App } from '../harness/stack.js';

jest.setTimeout(180_000);

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** No exact time is promised: other suites run on the same machine. */
const SOON_MS = 20_000;
const APPS: App[] = ['api', 'worker', 'gateway'];
/** In addition to the built-in file: an engine of the existing target, and another target. */
const engine = `{command: ["node", ${JSON.stringify(path.join(ROOT, 'tools/inference-sim/dist/main.js'))}, "--port", "{port}", "--model", "{model.id}", "--start-log", "{home}/sim-starts.log"]}`;
const SECOND = `targets: [{name: local, engines: {second: ${engine}}}]\n`;
const GPU = `targets: [{name: gpu, kind: process, engines: {second: ${engine}}}]\n`;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ gateway: true, config: () => 'targets: []\n' });
  await stack.slipway().deployments.create({ name: 'chat' });
  expect((await rollOut('local', 'sim')).status).toBe('succeeded');
  await until('the gateway serves chat', async () => (await ask()).status === 200);
});
let stopLoad: () => Promise<unknown> = async () => undefined;
afterEach(() => stopLoad());
afterAll(() => stack?.stop());

/** Writes the file as an editor does: a reader sees all of it or nothing. */
function write(text: string): void {
  const file = path.join(stack.home, 'slipway.config.yaml');
  writeFileSync(`${file}.next`, text);
  renameSync(`${file}.next`, file);
}

async function rollOut(target: string, name: string): Promise<{ status: string; message: string }> {
  const spec = { model: { id: `${target}-${name}` }, runtime: { target, engine: name } };
  return stack.operation(await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } }));
}

const ask = () =>
  fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }] }),
  }).then(async (answer) => {
    await answer.text();
    return answer;
  });

const targets = async () => await stack.slipway().targets.list();
const enginesOf = async (target: string): Promise<string[]> =>
  (await targets()).data.find(({ name }) => name === target)?.engines.map(({ name }) => name) ?? [];
const said = (app: App, text: string) => stack.logOf(app).split(text).length - 1;
const HELD = 'matches the settings in effect';
/** For this text alone: a process may still have to report the previous one. */
const takenAs = (text: string) =>
  `has changed and is in effect, sha256 ${createHash('sha256').update(text).digest('hex')}`;
const metricsOf = async (url: string) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${stack.token}` } })).text();

/** Writes a file, and waits until every process has taken it over. */
async function taken(text: string): Promise<void> {
  const line = takenAs(text);
  const before = APPS.map((app) => said(app, line));
  write(text);
  for (const [index, app] of APPS.entries())
    await until(`${app} takes it`, async () => said(app, line) > (before[index] as number), SOON_MS);
}

/** Runs four clients that send one request after the other until they are stopped. */
function load(): () => Promise<{ asked: number; failed: unknown[] }> {
  let isOver = false;
  const seen = { asked: 0, failed: [] as unknown[] };
  const client = async (): Promise<void> => {
    while (!isOver) {
      const status = await ask().then(
        (answer) => answer.status,
        (error: unknown) => String(error),
      );
      seen.asked += 1;
      if (status !== 200) seen.failed.push(status);
    }
  };
  const clients = [client(), client(), client(), client()];
  const stop = async (): Promise<typeof seen> => {
    isOver = true;
    await Promise.all(clients);
    return seen;
  };
  stopLoad = stop;
  return stop;
}

it('a new engine is usable within seconds in api and worker, and no request is lost meanwhile', async () => {
  const stop = load();
  write(SECOND);
  await until('the api to know the engine', async () => (await enginesOf('local')).includes('second'), SOON_MS);
  expect(await enginesOf('local')).toEqual(['sim', 'second']);
  expect((await rollOut('local', 'second')).status).toBe('succeeded');
  const { asked, failed } = await stop();
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(20);
  const digests = await Promise.all([stack.apiUrl(), stack.gatewayUrl].map(metricsOf));
  const { digest } = (await targets()).configuration;
  for (const text of digests) expect(text).toMatch(new RegExp(`slipway_config_info\\{.*digest="${digest}".*\\} 1`));
});

it('every process reports an invalid file, which changes nothing', async () => {
  write(`${SECOND.trimEnd()}\nqoutas: {webhooks: 1}\nquotas: {inference_requests_per_minute: 1}\n`);
  const refusal =
    'was rejected, and the previous settings stay in effect. 1 problem: qoutas is not a known key; did you mean quotas?';
  for (const app of APPS) await until(`${app} refuses it`, async () => said(app, refusal) === 1, SOON_MS);
  const { configuration } = await targets();
  expect(configuration).toMatchObject({ current: false, problems: [expect.stringContaining('did you mean quotas?')] });
  for (const url of [stack.apiUrl(), stack.gatewayUrl])
    expect(await metricsOf(url)).toMatch(/slipway_config_last_reload_successful(\{.*\})? 0/);
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  expect((await rollOut('local', 'second')).status).toBe('succeeded');
  // A tenant that does not own the file learns that something is wrong, and nothing of its content.
  const { token } = await stack.slipway().tenants.create({ name: 'acme' });
  const { configuration: theirs } = await stack.as(token!).targets.list();
  expect(theirs).toMatchObject({ current: false, problems: [] });
});

it('api and worker refuse an engine without a port in its command, in one line that says what to write', async () => {
  write('targets: [{name: gpu, kind: process, engines: {vllm: {command: [vllm, serve]}}}]\n');
  const line = 'targets[0].engines.vllm.command must pass {port} to the engine, as in [\\"--port\\", \\"{port}\\"]';
  for (const app of ['api', 'worker'] as const) await until(`${app} tells`, async () => said(app, line) === 1, SOON_MS);
  const file = path.join(stack.home, 'slipway.config.yaml');
  const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'apps/api/dist/main.js')], {
    env: {
      PATH: process.env['PATH'],
      SLIPWAY_CONFIG: file,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
    },
    encoding: 'utf8',
  });
  expect(status).toBe(78);
  expect(stderr).toBe(
    `Slipway cannot start: 1 problem in its configuration.\n  - SLIPWAY_CONFIG (${file}): ${line.replaceAll('\\"', '"')}\n`,
  );
});

it('SIGHUP reads the file at once, and ends no process', async () => {
  await taken(GPU);
  // Only a process that received the signal reports that nothing is new.
  expect(APPS.map((app) => said(app, HELD))).toEqual([0, 0, 0]);
  for (const app of APPS) stack.signal(app, 'SIGHUP');
  for (const app of APPS) await until(`${app} says so`, async () => said(app, HELD) === 1, SOON_MS);
  await stack.ready();
  expect((await rollOut('gpu', 'second')).status).toBe('succeeded');
});

it('a removed target continues to run its instances, and a rollback onto it reports why it is refused', async () => {
  const { revisions, rollbacks } = stack.slipway().deployments;
  const onGpu = (await revisions.list('chat')).data[0]!;
  expect((await rollOut('local', 'sim')).status).toBe('succeeded');
  const stop = load();
  await taken('targets: []\n');
  const shown = (await targets()).data.find(({ name }) => name === 'gpu');
  expect(shown).toMatchObject({ removed: true, capacity: { in_use: 1 } });
  const refused = await refusalOf(rollbacks.create('chat', { to_revision: onGpu.name }));
  expect([refused.status, refused.code]).toEqual([409, 'revision_not_restorable']);
  expect(refused.message).toContain('"gpu" was removed from the operator\'s configuration');
  expect((await stop()).failed).toEqual([]);
});

it('a gateway applies changed quotas to tenants from then on', async () => {
  write('quotas: {inference_requests_per_minute: 6}\n');
  await until('a refusal', async () => (await ask()).status === 429, SOON_MS);
  write('targets: []\n');
  await until('the end of it', async () => (await ask()).status === 200, SOON_MS);
});

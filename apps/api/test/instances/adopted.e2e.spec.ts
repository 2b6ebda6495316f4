import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { freePort } from '@slipway/platform-database/testing';
import type { Slipway } from '@slipway/sdk';
import { Load } from '@slipway/platform-testing/load';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const allow = ['http://127.0.0.1:*'];
const profiled = (name: string) => ({ name, kind: 'endpoint', allow, profile: { extends: name } });
const CONFIG = {
  targets: [{ name: 'adopted', kind: 'endpoint', allow }, ...['ollama', 'lmstudio', 'llamacpp', 'tei'].map(profiled)],
};
const REQUESTS_PER_SECOND = 60;

let stack: Stack;
let slipway: Slipway;
let folder: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-adopted-'));
  stack = await Stack.start({ gateway: true, config: () => JSON.stringify(CONFIG) });
  slipway = stack.slipway();
});
afterAll(async () => {
  // They end their own children, if they have any.
  for (const server of running) server.kill('SIGTERM');
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const instancesOf = async (name: string): Promise<any[]> => (await slipway.deployments.instances.list(name)).data;

/** Adopts a server with the lines of the README, with another target. */
async function adopt(name: string, endpoint: object, target = 'adopted', model: object = { id: 'tiny' }) {
  await slipway.deployments.create({ name });
  const spec = { model, runtime: { target }, endpoint };
  await slipway.operations.wait(await stack.rollOut(name, { spec, strategy: { type: 'immediate' } }));
}

async function bind(deployment: string) {
  const { products, targetBindings } = slipway.admin.modelApi;
  const slug = `acme/${deployment}`;
  const { id: product_id } = await products.create({ slug });
  const target = { deployment, revision: '1' };
  const { id: binding_id } = await targetBindings.create({ product_id, target });
  return { slug, product_id, binding_id };
}

async function publish(deployment: string): Promise<{ slug: string; bindingId: string }> {
  const { slug, product_id, binding_id } = await bind(deployment);
  const { targetBindings, publications } = slipway.admin.modelApi;
  await slipway.operations.wait((await targetBindings.qualify(binding_id)).operation.id);
  const bindings = [{ binding_id, weight: 100, priority: 1 }];
  await publications.create({ product_id, bindings, audience: { visibility: 'tenant', tenants: [] } });
  return { slug, bindingId: binding_id };
}

async function ask(model: string, route = '/v1/chat/completions', more: object = {}) {
  const answer = await fetch(stack.gatewayUrl + route, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...more }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}
const served = (model: string) => until(`${model} is served`, async () => (await ask(model)).status === 200);

/** Starts a stand-in of an engine, as another program would. */
async function standIn(engine: string, port: number, argv: string[], behaviour: object = {}): Promise<ChildProcess> {
  const file = path.join(folder, `${engine}-${port}.json`);
  writeFileSync(file, JSON.stringify(behaviour));
  const main = path.join(ROOT, 'tools/engines/stand-ins/main.mjs');
  return started([main, engine, file, ...argv], port, { OLLAMA_HOST: `127.0.0.1:${port}` });
}

async function started(argv: string[], port: number, env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const server = spawn(process.execPath, argv, { env, stdio: 'ignore' });
  running.add(server);
  await until('it answers', async () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  );
  return server;
}

async function kill(server: ChildProcess): Promise<void> {
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

it('a server that has nothing but /v1/… is adopted by the lines of the README', async () => {
  const server: Server = createServer((request, response) => {
    const answer = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json', server: 'secret/1', 'x-path': '/home/me/tiny.gguf' })
        .end(JSON.stringify(body));
    if (request.url === '/v1/models') return answer(200, { object: 'list', data: [{ id: 'tiny' }] });
    if (request.url === '/v1/chat/completions')
      return answer(200, { object: 'chat.completion', model: '/home/me/tiny.gguf', choices: [] });
    return answer(404, {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  await adopt('bare', { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  await served('bare');
  const { body, headers } = await ask('bare');
  expect(body.model).toBe('bare');
  expect([headers.get('server'), headers.get('x-path')]).toEqual([null, null]);
  expect(await instancesOf('bare')).toMatchObject([
    {
      state: 'ready',
      message: expect.stringMatching(
        /^it has no \/health: the health probe uses GET http:\/\/127\.0\.0\.1:\d+\/v1\/models instead$/,
      ),
    },
  ]);
  server.closeAllConnections();
  server.close();
});

const LLAMA = (model: string, port: number) => ['--model', '/m.gguf', '--alias', model, '--port', String(port)];

it.each<[string, string, (port: number) => string[], object]>([
  ['ollama', 'ollama', () => ['serve'], { load_ms: 300 }],
  ['lmstudio', 'lmstudio', (port) => ['server', 'start', '--port', String(port)], {}],
  ['llamacpp', 'llamacpp', (port) => LLAMA('tiny', port), {}],
  // No template describes it: it is probed like any server, and its list of models decides.
  ['llamacpp', 'adopted', (port) => LLAMA('tiny', port), {}],
])(
  '%s, adopted on the target %s, qualifies, is published and answers by its slug',
  async (engine, target, argv, behaviour) => {
    const port = await freePort();
    await standIn(engine, port, argv(port), behaviour);
    const name = engine === target ? engine : `${engine}-${target}`;
    await adopt(name, { base_url: `http://127.0.0.1:${port}` }, target);
    const { slug } = await publish(name);
    await served(slug);
    expect((await ask(slug)).body.model).toBe(slug);
  },
);

it('an engine for embeddings qualifies by them, and is published', async () => {
  const port = await freePort();
  await standIn('tei', port, ['--model-id=/models/tiny', '--served-model-name=tiny', `--port=${port}`]);
  await adopt('tei', { base_url: `http://127.0.0.1:${port}` }, 'tei', { id: 'tiny', uri: '/models/tiny' });
  const { slug } = await publish('tei');
  const embed = () => ask(slug, '/v1/embeddings', { messages: undefined, input: 'x' });
  await until('it is served', async () => (await embed()).status === 200);
  expect((await embed()).body).toMatchObject({ model: slug, data: [{ embedding: [0.1, 0.2, 0.3] }] });
});

it('an engine whose model is swapped has drifted within one round of probes, and recovers with the model', async () => {
  const port = await freePort();
  let engine = await standIn('llamacpp', port, LLAMA('tiny', port));
  await adopt('swapped', { base_url: `http://127.0.0.1:${port}` }, 'llamacpp');
  const { slug, bindingId } = await publish('swapped');
  await served(slug);
  const binding = () => slipway.admin.modelApi.targetBindings.get(bindingId);
  const drifted = async () => (await instancesOf('swapped'))[0].reason === 'model_changed';
  expect(await binding()).toMatchObject({ drifted: false });

  await kill(engine);
  engine = await standIn('llamacpp', port, LLAMA('other', port));
  const from = performance.now();
  await until('it has drifted', drifted);
  console.log(`drift was told ${Math.round(performance.now() - from)} ms after the other model answered`);
  // A round is a second; a busy machine needs the rest.
  expect(performance.now() - from).toBeLessThan(15_000);
  expect(await instancesOf('swapped')).toMatchObject([
    { state: 'unhealthy', message: expect.stringContaining('other') },
  ]);
  expect(await binding()).toMatchObject({ drifted: true, qualification: { drifted_since: expect.any(String) } });
  await until('gateways know', async () => (await ask('swapped')).status === 503);
  const { data: events } = await slipway.deployments.events.list('swapped', { type: 'instance.drifted' });
  expect(events).toHaveLength(1);

  await kill(engine);
  await standIn('llamacpp', port, LLAMA('tiny', port));
  await served(slug);
  expect(await binding()).toMatchObject({ drifted: false, qualification: { drifted_since: null } });
});

it('if one of two URLs serves another model by now, the binding does not qualify, and names the URL', async () => {
  const ports = [await freePort(), await freePort()] as const;
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const [, second] = await Promise.all(ports.map((port) => standIn('llamacpp', port, LLAMA('tiny', port))));
  await adopt('halfway', { base_urls: urls }, 'llamacpp');
  const { binding_id } = await bind('halfway');
  await kill(second!);
  const other = await standIn('llamacpp', ports[1], LLAMA('other', ports[1]));
  await until('it has drifted', async () =>
    (await instancesOf('halfway')).some((one: any) => one.reason === 'model_changed'),
  );
  const qualify = async () => {
    const { operation } = await slipway.admin.modelApi.targetBindings.qualify(binding_id);
    return stack.operation(operation.id);
  };
  const failed = await qualify();
  expect(failed).toMatchObject({ status: 'failed', message: expect.stringContaining(urls[1]!) });
  expect(failed.message).not.toContain(urls[0]);
  await kill(other);
  await standIn('llamacpp', ports[1], LLAMA('tiny', ports[1]));
  await until('it is back', async () => (await instancesOf('halfway')).every(({ state }: any) => state === 'ready'));
  expect(await qualify()).toMatchObject({ status: 'succeeded' });
});

it('if one of two URLs dies under load, no request fails before its answer begins', async () => {
  const ports = [await freePort(), await freePort()];
  const main = path.join(ROOT, 'tools/inference-sim/dist/main.js');
  const servers = [];
  for (const port of ports)
    servers.push(await started([main, '--port', String(port), '--model', 'tiny', '--ttft-ms', '400'], port));
  await adopt('twice', { base_urls: ports.map((port) => `http://127.0.0.1:${port}`) });
  const instances = await instancesOf('twice');
  expect(instances.map(({ state }: any) => state)).toEqual(['ready', 'ready']);
  await served('twice');
  const load = new Load(stack.gatewayUrl, stack.token, 'twice', REQUESTS_PER_SECOND);
  await until('the load is served', async () => load.answers.length > 2 * REQUESTS_PER_SECOND);
  const inFlight = async () =>
    (await instancesOf('twice')).sort((a: any, b: any) => a.ordinal - b.ordinal).map((one: any) => one.in_flight);
  await until('both have requests', async () => (await inFlight()).every((count: number) => count > 0));
  await kill(servers[0]!);
  const states = async () => (await instancesOf('twice')).map(({ state }: any) => state).sort();
  await until('it is out of sight', async () => (await states()).join() === 'ready,unhealthy');
  const seen = load.answers.length;
  await until('the requests are the other one’s', async () => {
    const [dead, living] = await inFlight();
    return dead === 0 && living > 0;
  });
  await until('the other one goes on', async () => load.answers.length > seen + 2 * REQUESTS_PER_SECOND);
  const answers = await load.stop();
  console.log(
    `${answers.length} requests, ${answers.filter(({ isCut }) => isCut).length} of them cut after they had begun`,
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(answers.length).toBeGreaterThan(4 * REQUESTS_PER_SECOND);
});

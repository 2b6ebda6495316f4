import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Egress } from '@slipway/platform-egress';
import { operationFailures, StepFailed } from '@slipway/platform-operations';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
} from '@slipway/platform-testing';
import { request } from 'undici';
import { instanceKey } from '@slipway/dataplane';
import { IDLE_TIMEOUT_MS } from '@slipway/target-driver/qualification';
import type { PromisedTraits } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { AdoptedServer } from '@slipway/ports/instances';
import { ADMIN, Administration, soundAnswer, Upstream } from './administration.js';

const SENTINEL = 'zz-sentinel';
const CHECKS = ['list_models', 'chat_completion', 'streamed_completion', 'unknown_model'];

let area: Administration;
let simulator: Upstream;

beforeAll(async () => {
  simulator = await Upstream.start();
  area = await Administration.start();
});
afterAll(async () => {
  await area?.stop();
  await simulator?.stop();
});

const stateOf = (id: string): Promise<any> => area.bindings.get('ten_1', id);
const everythingOf = async (operationId: string): Promise<string> =>
  JSON.stringify(
    await area.harness.database.read(
      'system',
      `select (select json_agg(o) from operations o where id = $1), (select json_agg(s) from operation_steps s where operation_id = $1), (select json_agg(e) from events e where operation_id = $1)`,
      [operationId],
    ),
  );

it('calls a supplier, stores what it found and qualifies the binding', async () => {
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, `${simulator.url}/v1/`);
  expect(binding).toMatchObject({
    state: 'unqualified',
    qualification: { checked_at: null, checks: [] },
    target: { supplier: SENTINEL, base_url: `${simulator.url}/v1`, model: 'sim' },
  });
  expect(JSON.stringify(binding)).not.toContain('sk-');
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({
    kind: 'qualify_target_binding',
    status: 'succeeded',
    progress: 100,
    resource_type: 'target_binding',
    resource_name: binding.id,
    result: { qualified: true },
  });
  const after = await stateOf(binding.id);
  expect(after.state).toBe('qualified');
  expect(after.qualification.checked_at).not.toBeNull();
  expect(after.qualification.checks).toEqual(
    CHECKS.map((name) => expect.objectContaining({ name, passed: true, duration_ms: expect.any(Number) })),
  );
  expect(await everythingOf(record['id'])).not.toContain(SENTINEL);
});

it('really asks: every call, with the credential', async () => {
  const upstream = await Upstream.start((_request, response) =>
    response.writeHead(500, { server: SENTINEL }).end(SENTINEL),
  );
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, upstream.url);
  const record = await area.qualify(binding.id);
  expect(
    upstream.seen.map(({ method, path, authorization, body }) => [
      method,
      path,
      authorization,
      body?.model,
      body?.stream,
    ]),
  ).toEqual([
    ['GET', '/v1/models', `Bearer sk-${SENTINEL}`, undefined, undefined],
    ['POST', '/v1/chat/completions', `Bearer sk-${SENTINEL}`, 'sim', undefined],
    ['POST', '/v1/chat/completions', `Bearer sk-${SENTINEL}`, 'sim', true],
    ['POST', '/v1/chat/completions', `Bearer sk-${SENTINEL}`, 'slipway-qualification-no-such-model', undefined],
  ]);
  expect(record).toMatchObject({
    status: 'failed',
    error_code: 'dependency_outage',
    retryable: true,
    result: { qualified: false },
  });
  expect((await stateOf(binding.id)).qualification.checks.map((check: any) => [check.name, check.passed])).toEqual(
    CHECKS.map((name) => [name, false]),
  );
  expect(await everythingOf(record['id'])).not.toContain(SENTINEL);
  await upstream.stop();
});

it('refuses a target that answers to any name, and keeps the binding unqualified', async () => {
  const upstream = await Upstream.start(({ path, body }, response) => {
    if (path === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: 'sim' }] }));
    if (body.stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n');
    }
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'x' } }] }));
  });
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, upstream.url);
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'validation_failed' });
  expect(await stateOf(binding.id)).toMatchObject({
    state: 'unqualified',
    qualification: {
      checks: [{ passed: true }, { passed: true }, { passed: true }, { name: 'unknown_model', passed: false }],
    },
  });
  await upstream.stop();
});

it('says dependency_outage where nobody listens, and a retry calls again', async () => {
  const upstream = await Upstream.start((_request, response) => response.end());
  const { url } = upstream;
  await upstream.stop();
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, url);
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'dependency_outage', retryable: true });
  expect((await stateOf(binding.id)).qualification.checks[0].message).toBe(
    'the target could not be reached (ECONNREFUSED)',
  );
  const late = await Upstream.start(undefined, Number(new URL(url).port));
  await area.harness.database.tx({ tenantId: 'ten_1' }, (tx) =>
    area.harness.store.retry(tx, record['id'], ADMIN.actor),
  );
  expect(await area.harness.finish('ten_1', record['id'])).toMatchObject({ status: 'succeeded' });
  expect((await stateOf(binding.id)).qualification.checks).toHaveLength(CHECKS.length);
  await late.stop();
});

it('takes one qualification at a time, names it, and is free again after a cancel', async () => {
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, simulator.url);
  const first = await area.begin(binding.id);
  await expect(area.begin(binding.id)).rejects.toMatchObject({
    code: 'operation_in_progress',
    extra: { operation_id: first },
  });
  await area.harness.database.tx({ tenantId: 'ten_1' }, (tx) => area.harness.store.cancel(tx, first, ADMIN.actor));
  expect(await area.harness.finish('ten_1', first)).toMatchObject({ status: 'cancelled' });
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
});

it('brings a revision up for the calls, keeps it warm after them, and lets it go when they fail', async () => {
  const { id: productId } = await area.product();
  await area.revision('rev_1', simulator.url);
  const { body: binding } = await area.bindings.create(ADMIN, {
    product_id: productId,
    target: { deployment: 'dep', revision: 'rev_1' },
  });
  expect(binding.target).toEqual({
    deployment: 'dep',
    deployment_id: 'dep_1',
    revision: 'dep-00001',
    revision_id: 'rev_1',
  });
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
  expect([...area.holds.get('rev_1')!]).toEqual([`binding:${binding.id}`]);

  await area.revision('rev_2', 'http://127.0.0.1:9');
  const { body: broken } = await area.bindings.create(ADMIN, {
    product_id: productId,
    target: { deployment: 'dep', revision: 'rev_2' },
  });
  expect(await area.qualify(broken.id)).toMatchObject({ status: 'failed', error_code: 'dependency_outage' });
  expect([...area.holds.get('rev_2')!]).toEqual([]);
});

const IGNORING: PromisedTraits = {
  serves: ['chat'],
  unknownModel: 'ignores',
  identity: ['models_list', 'response_model'],
  readyTimeoutSeconds: 30,
};

/** As llama-server does: whatever it is asked for, it answers with its own model. */
const ignoring = (model: string) =>
  Upstream.start(({ path, body }, response) => {
    if (path === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: model }] }));
    if (!body.stream)
      return void response.end(
        JSON.stringify({ model, choices: [{ message: { content: null, reasoning_content: 'x' } }] }),
      );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n');
  });

/** It has one model, `large`, and knows no other. */
const refusing = (path: string, body: any, response: ServerResponse) => {
  if (path === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: 'large' }] }));
  const error = { error: { message: `no model ${body.model}` } };
  response.writeHead(404).end(JSON.stringify(error));
};

it('qualifies an engine that answers to any name by its identity, with its key, and says that the unknown model tells nothing', async () => {
  const upstream = await ignoring('sim');
  const { id: product_id } = await area.product();
  const { keyRing } = area.harness.context.get<Config>(CONFIG, { strict: false });
  area.traits.set('rev_ignoring', IGNORING);
  await area.revision('rev_ignoring', upstream.url, { id: keyRing.current.id, generation: 3 });
  const target = { deployment: 'dep', revision: 'rev_ignoring' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
  const { state, qualification } = await stateOf(binding.id);
  expect(state).toBe('qualified');
  expect(qualification.checks.map(({ name, passed, result }: any) => [name, passed, result])).toEqual([
    ['warm_up', true, 'passed'],
    ['list_models', true, 'passed'],
    ['chat_completion', true, 'passed'],
    ['streamed_completion', true, 'passed'],
    ['unknown_model', false, 'not_applicable'],
  ]);
  const key = instanceKey(keyRing, { instanceId: 'ins_1', generation: 3, keyId: keyRing.current.id });
  expect(new Set(upstream.seen.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${key}`]));
  await upstream.stop();
});

it('wakes a revision that sleeps, waits for it, and says at its deadline what it waited for', async () => {
  const product = await area.product();
  await area.revision('rev_sleeper', simulator.url);
  area.ready.set('rev_sleeper', 0);
  area.asleep.add('rev_sleeper');
  const { body: binding }: any = await area.bindings.create(ADMIN, {
    product_id: product.id,
    target: { deployment: 'dep', revision: 'rev_sleeper' },
  });
  const id = await area.begin(binding.id);
  await area.harness.runner.drive(id);
  expect(area.asleep.has('rev_sleeper')).toBe(false);
  expect(await area.harness.record('ten_1', id)).toMatchObject({ status: 'running', current_step: 'await_ready' });
  area.messages.set('rev_sleeper', 'waits for a free place on target local');
  await area.harness.database.read(
    'system',
    `update operation_steps set started_at = started_at - interval '601 seconds' where operation_id = $1 and status = 'running' returning 1`,
    [id],
  );
  expect(await area.harness.finish('ten_1', id)).toMatchObject({
    status: 'failed',
    error_code: 'target_not_ready',
    message: 'no instance was ready after 600 s: waits for a free place on target local',
  });
  area.messages.clear();
  area.ready.set('rev_sleeper', 1);
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
});

it('ends at once where no waiting brings the revision up, with the cause', async () => {
  const { id: product_id } = await area.product();
  area.failures.set('rev_lost', {
    cause: 'program_not_found',
    message: 'llama-server was not found',
    remediation: 'Install it.',
    exit_code: 127,
    signal: null,
    log_tail: [],
  });
  const target = { deployment: 'dep', revision: 'rev_lost' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record['message']).toContain('program_not_found: llama-server was not found');
});

it('waits for no adopted server that has another model than the revision', async () => {
  const { id: product_id } = await area.product();
  area.reasons.set('rev_gone', 'model_changed');
  const target = { deployment: 'dep', revision: 'rev_gone' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record['message']).toContain('waiting mends nothing: model_changed');
});

it('refuses an engine that answers to any name with another model than the revision says', async () => {
  const upstream = await ignoring('swapped');
  const { id: product_id } = await area.product();
  area.traits.set('rev_swapped', IGNORING);
  await area.revision('rev_swapped', upstream.url);
  const target = { deployment: 'dep', revision: 'rev_swapped' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'validation_failed' });
  expect(record['message']).toContain('list_models: models are listed, this one is not among them');
  expect(await everythingOf(record['id'])).not.toContain('swapped');
  await upstream.stop();
});

it('qualifies an adopted server that nobody described by its list, where it answers to any name', async () => {
  for (const [id, model, status] of [
    ['rev_plain', 'sim', 'succeeded'],
    ['rev_other', 'large', 'failed'],
  ] as const) {
    const upstream = await ignoring(model);
    const { id: product_id } = await area.product();
    area.adoptedAt.set(id, upstream.url);
    await area.revision(id, upstream.url);
    const target = { deployment: 'dep', revision: id };
    const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
    expect(await area.qualify(binding.id)).toMatchObject({ status });
    const { checks } = (await stateOf(binding.id)).qualification;
    expect(checks.at(-1)).toMatchObject({
      name: 'unknown_model',
      result: status === 'succeeded' ? 'not_applicable' : 'failed',
    });
    await upstream.stop();
  }
});

describe('of several URLs', () => {
  const urlsOf = (upstreams: readonly Upstream[]) => upstreams.map(({ url }) => url);
  const models = (upstream: Upstream) => upstream.seen.filter(({ path }) => path === '/v1/models').length;
  const adopt = async (revision: string, urls: string[], known: AdoptedServer['model'][]) => {
    area.adoptedAt.set(revision, urls);
    area.servers.set(
      revision,
      known.map((model, at) => ({ instanceId: `ins_${at + 1}`, baseUrl: urls[at] ?? null, model })),
    );
    await area.revision(revision, urls);
    const { id: product_id } = await area.product();
    return (await area.bindings.create(ADMIN, { product_id, target: { deployment: 'dep', revision } })).body;
  };
  const stopped = (upstreams: readonly Upstream[]) => Promise.all(upstreams.map((one) => one.stop()));

  it('one that has another model keeps the binding from qualifying, and is named', async () => {
    for (const other of [
      await ignoring('large'),
      await Upstream.start(({ path, body }, response) => refusing(path, body, response)),
    ]) {
      const upstreams = [await ignoring('sim'), other];
      const binding = await adopt(`rev_${new URL(other.url).port}`, urlsOf(upstreams), ['unseen', 'unseen']);
      const record = await area.qualify(binding.id);
      expect(record).toMatchObject({ status: 'failed', error_code: 'validation_failed' });
      expect(record['message']).toContain(`${other.url}: `);
      expect(record['message']).not.toContain(upstreams[0]!.url);
      const { checks } = (await stateOf(binding.id)).qualification;
      expect(checks.find(({ result }: any) => result === 'failed').message).toContain(other.url);
      await stopped(upstreams);
    }
  });

  it('those are called of which nothing is known, and one where all are known to have the model', async () => {
    const upstreams = [await Upstream.start(), await Upstream.start(), await Upstream.start()];
    const some = await adopt('rev_some', urlsOf(upstreams), ['seen', 'unseen', 'unseen']);
    expect(await area.qualify(some.id)).toMatchObject({ status: 'succeeded' });
    expect(upstreams.map(models)).toEqual([0, 1, 1]);
    const all = await adopt('rev_all', urlsOf(upstreams), ['seen', 'seen', 'seen']);
    expect(await area.qualify(all.id)).toMatchObject({ status: 'succeeded' });
    expect(upstreams.map(models)).toEqual([1, 1, 1]);
    await stopped(upstreams);
  });

  it('at most 32 are called, four at once', async () => {
    let [atOnce, most] = [0, 0];
    const upstream = await Upstream.start((request, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        soundAnswer(request, response);
      }, 20);
    });
    const urls = Array.from({ length: 40 }, () => upstream.url);
    const binding = await adopt(
      'rev_many',
      urls,
      urls.map(() => 'unseen'),
    );
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
    expect([models(upstream), most]).toEqual([32, 4]);
    await upstream.stop();
  });

  it('one whose model was swapped ends it at once, though another is ready, and is named', async () => {
    const upstream = await Upstream.start();
    const gone = 'http://127.0.0.1:9';
    const binding = await adopt('rev_swap', [upstream.url], ['seen']);
    area.servers.get('rev_swap')!.push({ instanceId: 'ins_2', baseUrl: gone, model: 'changed' });
    const record = await area.qualify(binding.id);
    expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
    expect(record['message']).toContain(`${gone} has another model than the revision`);
    expect(upstream.seen).toEqual([]);
    await upstream.stop();
  });

  it('one whose model is swapped while they are called keeps the binding from qualifying', async () => {
    const upstream = await Upstream.start((request, response) => {
      area.servers.get('rev_late')![1]!.model = 'changed';
      soundAnswer(request, response);
    });
    const binding = await adopt('rev_late', [upstream.url, upstream.url], ['seen', 'seen']);
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
    expect(await stateOf(binding.id)).toMatchObject({ state: 'unqualified' });
    await upstream.stop();
  });

  it('one that is down is waited for a while, and then the others count', async () => {
    const upstream = await Upstream.start();
    const binding = await adopt('rev_down', [upstream.url], ['seen']);
    area.servers.get('rev_down')!.push({ instanceId: 'ins_2', baseUrl: 'http://127.0.0.1:9', model: 'unseen' });
    const from = performance.now();
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
    expect(performance.now() - from).toBeGreaterThan(9_900);
    await upstream.stop();
  }, 60_000);
});

it('shows which bindings lead to a server that has another model by now', async () => {
  const { id: product_id } = await area.product();
  const target = { deployment: 'dep', revision: 'rev_drift' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  expect(binding).toMatchObject({ drifted: false, qualification: { drifted_since: null } });
  area.drifted.set('rev_drift', '2026-01-01T00:00:00.000Z');
  const shown = { drifted: true, qualification: { drifted_since: '2026-01-01T00:00:00.000Z' } };
  expect(await stateOf(binding.id)).toMatchObject(shown);
  const { data } = await area.bindings.list(ADMIN, { limit: 100 } as any);
  expect(data.filter(({ drifted }: any) => drifted)).toMatchObject([{ id: binding.id, ...shown }]);
  area.drifted.clear();
  expect(await stateOf(binding.id)).toMatchObject({ drifted: false });
});

it('binds one revision to an adopted server that answers to any name, also when two are bound at once', async () => {
  const { id: product_id } = await area.product();
  const bind = (revision: string) =>
    area.bindings.create(ADMIN, { product_id, target: { deployment: 'dep', revision } });
  for (const [id, url] of [
    ['rev_a', 'http://127.0.0.1:9/v1'],
    ['rev_b', 'http://127.0.0.1:9'],
    ['rev_c', 'http://127.0.0.1:10'],
  ] as const) {
    area.traits.set(id, IGNORING);
    area.adoptedAt.set(id, url);
  }
  const both = await Promise.allSettled([bind('rev_a'), bind('rev_b')]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'server_already_bound' } });
  await bind('rev_c');
  // One that refuses unknown models tells the two apart by itself.
  area.traits.set('rev_d', { ...IGNORING, unknownModel: 'rejects' });
  area.adoptedAt.set('rev_d', 'http://127.0.0.1:9');
  await bind('rev_d');
});

it('suspends a binding that had passed and fails now', async () => {
  const upstream = await Upstream.start();
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, upstream.url);
  await area.qualify(binding.id);
  await upstream.stop();
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed' });
  expect((await stateOf(binding.id)).state).toBe('suspended');
});

it('B11: finds a call of a target inside a transaction', async () => {
  const dispatcher = area.harness.context.get(Egress, { strict: false }).dispatcher(['http://127.0.0.1:*']);
  const call = async () => void (await (await request(`${simulator.url}/v1/models`, { dispatcher })).body.dump());
  await area.harness.database.tx('system', call);
  expect(area.calledInTransaction.splice(0)).toEqual(['GET /v1/models']);
  await call();
  expect(area.calledInTransaction).toEqual([]);
});

it('A5: a target that hangs holds a worker for one idle time-out, not for one of each call, and may be tried again', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined).resume()));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, `http://127.0.0.1:${port}`);
  const from = performance.now();
  const record = await area.qualify(binding.id);
  const heldMs = performance.now() - from;
  console.log(`a qualification of a target that hangs held its worker for ${Math.ceil(heldMs)} ms`);
  expect(heldMs).toBeLessThan(IDLE_TIMEOUT_MS + 3_000);
  expect(sockets).toHaveLength(1);
  expect(record).toMatchObject({ status: 'failed', error_code: 'dependency_outage', retryable: true });
  const { checks } = (await stateOf(binding.id)).qualification;
  expect(checks.map((check: any) => [check.name, check.passed])).toEqual(CHECKS.map((name) => [name, false]));
  expect(checks[1].message).toBe('not called, because the target was silent before');
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => server.close(closed));
  const late = await Upstream.start(undefined, port);
  await area.harness.database.tx({ tenantId: 'ten_1' }, (tx) =>
    area.harness.store.retry(tx, record['id'], ADMIN.actor),
  );
  expect(await area.harness.finish('ten_1', record['id'])).toMatchObject({ status: 'succeeded' });
  await late.stop();
}, 120_000);

const properties: OperationCase = {
  get harness() {
    return area.harness;
  },
  tenantId: 'ten_1',
  kind: 'qualify_target_binding',
  begin: async () => {
    const { id } = await area.product();
    return area.begin((await area.supplierBinding(id, simulator.url)).id);
  },
  assertSucceeded: async (record) => {
    const { state, qualification } = await stateOf(record['resource_name']);
    expect([state, qualification.checks.map((check: any) => check.name)]).toEqual(['qualified', CHECKS]);
  },
  assertUnwound: async (record) => {
    expect((await stateOf(record['resource_name'])).state).toBe('unqualified');
    await area.begin(record['resource_name']);
  },
};

it('has only repeatable steps', () => everyStepIsRepeatable(properties), 120_000);
it(
  'unwinds clean, whichever step fails',
  () => everyStepMayFail(properties, () => new StepFailed(operationFailures.internal, 'made to fail')),
  120_000,
);
it('goes on after a crash at any commit', () => everyCrashResumes(properties), 120_000);

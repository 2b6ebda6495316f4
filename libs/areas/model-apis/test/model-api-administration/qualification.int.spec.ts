import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Egress } from '@slipway/platform-egress';
import { request } from 'undici';
import { instanceKey } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { ADMIN, Administration, CHECKS, ignoring, IGNORING, SupplierServer } from './administration.js';

const SENTINEL = 'zz-sentinel';

let area: Administration;
let simulator: SupplierServer;

beforeAll(async () => {
  simulator = await SupplierServer.start();
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

it('a qualification calls a supplier, stores the results and qualifies the binding', async () => {
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

it('a qualification sends every call, with the credential', async () => {
  const upstream = await SupplierServer.start((_request, response) =>
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

it('a target that answers to any name is refused, and its binding stays unqualified', async () => {
  const upstream = await SupplierServer.start(({ path, body }, response) => {
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

it('a product that promises more tokens than the target gives a request is not qualified by it', async () => {
  const upstream = await SupplierServer.start(({ path, body }, response) => {
    if (path === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: 'sim', max_model_len: 256 }] }));
    if (body.model !== 'sim') return void response.writeHead(404).end('no such model');
    if (!body.stream) return void response.end(JSON.stringify({ choices: [{ message: { content: 'x' } }] }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n');
  });
  for (const [context_length, status] of [
    [100_000, 'failed'],
    [256, 'succeeded'],
  ] as const) {
    const { id: productId } = await area.product(undefined, { context_length });
    const binding = await area.supplierBinding(productId, upstream.url);
    expect(await area.qualify(binding.id)).toMatchObject({ status });
    const checks: any[] = (await stateOf(binding.id)).qualification.checks;
    expect(checks.find(({ name }) => name === 'context_length').passed).toBe(status === 'succeeded');
  }
  await upstream.stop();
});

it('a qualification reports dependency_outage if no server listens, and a retry calls again', async () => {
  const upstream = await SupplierServer.start((_request, response) => response.end());
  const { url } = upstream;
  await upstream.stop();
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, url);
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'dependency_outage', retryable: true });
  expect((await stateOf(binding.id)).qualification.checks[0].message).toBe(
    'the target could not be reached (ECONNREFUSED)',
  );
  const late = await SupplierServer.start(undefined, Number(new URL(url).port));
  await area.harness.database.tx({ tenantId: 'ten_1' }, (tx) =>
    area.harness.store.retry(tx, record['id'], ADMIN.actor),
  );
  expect(await area.harness.finish('ten_1', record['id'])).toMatchObject({ status: 'succeeded' });
  expect((await stateOf(binding.id)).qualification.checks).toHaveLength(CHECKS.length);
  await late.stop();
});

it('a binding allows one qualification at a time, names it, and is free again after a cancel', async () => {
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

it('a qualification brings a revision up, keeps it warm afterwards, and releases it when the calls fail', async () => {
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

it('an engine that answers to any name is qualified by its identity, and the unknown model is no proof', async () => {
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

it('a qualification wakes a sleeping revision, waits for it, and reports at its deadline what it waited for', async () => {
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
  area.messages.set('rev_sleeper', 'waiting for free capacity on target local');
  await area.harness.database.read(
    'system',
    `update operation_steps set started_at = started_at - interval '601 seconds' where operation_id = $1 and status = 'running' returning 1`,
    [id],
  );
  expect(await area.harness.finish('ten_1', id)).toMatchObject({
    status: 'failed',
    error_code: 'target_not_ready',
    message: 'The revision had no ready instance after 600 s: waiting for free capacity on target local',
  });
  area.messages.clear();
  area.ready.set('rev_sleeper', 1);
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
});

it('a qualification ends at once, with the cause, if no waiting brings the revision up', async () => {
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

it('a qualification waits for no adopted server that has another model than the revision', async () => {
  const { id: product_id } = await area.product();
  area.reasons.set('rev_gone', 'model_changed');
  const target = { deployment: 'dep', revision: 'rev_gone' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record['message']).toContain('waiting will not help: model_changed');
});

it("an engine that answers to any name is refused if its model is not the revision's", async () => {
  const upstream = await ignoring('swapped');
  const { id: product_id } = await area.product();
  area.traits.set('rev_swapped', IGNORING);
  await area.revision('rev_swapped', upstream.url);
  const target = { deployment: 'dep', revision: 'rev_swapped' };
  const { body: binding } = await area.bindings.create(ADMIN, { product_id, target });
  const record = await area.qualify(binding.id);
  expect(record).toMatchObject({ status: 'failed', error_code: 'validation_failed' });
  expect(record['message']).toContain('list_models: the list of models does not include this model');
  expect(await everythingOf(record['id'])).not.toContain('swapped');
  await upstream.stop();
});

it('an adopted server without a description is qualified by its list, if it answers to any name', async () => {
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

it('a qualification suspends a binding that had passed and fails now', async () => {
  const upstream = await SupplierServer.start();
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, upstream.url);
  await area.qualify(binding.id);
  await upstream.stop();
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed' });
  expect((await stateOf(binding.id)).state).toBe('suspended');
});

it('the test bed finds a call of a target inside a transaction', async () => {
  const dispatcher = area.harness.context.get(Egress, { strict: false }).dispatcher(['http://127.0.0.1:*']);
  const call = async () => void (await (await request(`${simulator.url}/v1/models`, { dispatcher })).body.dump());
  await area.harness.database.tx('system', call);
  expect(area.calledInTransaction.splice(0)).toEqual(['GET /v1/models']);
  await call();
  expect(area.calledInTransaction).toEqual([]);
});

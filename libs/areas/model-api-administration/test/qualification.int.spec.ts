import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { operationFailures, StepFailed } from '@slipway/platform-operations';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
} from '@slipway/platform-testing';
import { ADMIN, Administration, Upstream } from './administration.js';

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

it('suspends a binding that had passed and fails now', async () => {
  const upstream = await Upstream.start();
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, upstream.url);
  await area.qualify(binding.id);
  await upstream.stop();
  expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed' });
  expect((await stateOf(binding.id)).state).toBe('suspended');
});

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

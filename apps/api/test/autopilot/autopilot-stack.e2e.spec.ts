import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { codeOf } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

let stack: Stack;
let slipway: Slipway;

beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
  slipway = stack.slipway();
});
afterAll(() => stack?.stop());

it('sees slow answers to real clients, proposes a plan, waits for a person, and the plan rolls out', async () => {
  await slipway.deployments.create({ name: 'chat' });
  const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 60 } } };
  const first = await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } });
  expect(await stack.operation(first)).toMatchObject({ status: 'succeeded' });
  await slipway.deployments.policy.set('chat', {
    slos: [{ metric: 'e2e_latency_ms', threshold: 20 }],
    evidence: { min_samples: 50, min_duration_seconds: 5 },
  });

  const plans = async (): Promise<any[]> =>
    (await slipway.autopilot.plans.list({ deployment: 'chat', state: 'pending' })).data;
  const ask = (): Promise<Response> =>
    fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }], max_tokens: 1 }),
    });
  await until(
    'the autopilot proposes a plan',
    async () => {
      await Promise.all(Array.from({ length: 4 }, async () => (await ask()).text()));
      return (await plans()).length > 0;
    },
    60_000,
  );
  const { data: events } = await slipway.deployments.events.list('chat', { order: 'asc', limit: 200 });
  const types = events.map(({ type }) => type);
  expect(types).toContain('autopilot.evidence_insufficient');
  expect(types.indexOf('autopilot.evidence_insufficient')).toBeLessThan(types.indexOf('plan.created'));

  const [plan] = await plans();
  expect(plan).toMatchObject({
    changes: [{ path: '/scaling/min_replicas', from: 1, value: 2 }],
    evidence: [{ metric: 'e2e_latency_ms', stat: 'p95' }],
  });
  expect(plan.evidence[0].baseline.value).toBeGreaterThan(50);
  expect(await codeOf(stack.rollOut('chat', plan.rollout))).toBe('409 plan_not_approved');
  await slipway.autopilot.plans.approve(plan.id, { plan_digest: plan.content_digest });
  expect((await slipway.deployments.revisions.list('chat')).data).toHaveLength(1);
  const id = await stack.rollOut('chat', plan.rollout);
  expect(await stack.operation(id, ['waiting'])).toMatchObject({ current_step: 'soak:1', resource_name: 'chat' });
  expect(await slipway.deployments.revisions.get('chat', '2')).toMatchObject({
    source: { kind: 'plan', plan_id: plan.id },
    spec: { scaling: { min_replicas: 2 } },
  });
});

it('records an approval once if the api dies between its commit and its answer', async () => {
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map(async (id) => {
      const owner = { type: 'person' as const, id };
      return (await slipway.tokens.create({ name: id, scopes: ['operator'], owner })).token;
    }),
  );
  const draft = { deployment: 'chat', changes: [{ path: '/scaling/min_replicas', value: 3 }] };
  const plan = await stack.as(alice!).autopilot.plans.create(draft);
  const digest = { plan_digest: plan.content_digest };
  // A header distinguishes a replay from a second approval.
  const approve = () =>
    stack.answerTo(({ autopilot }) => autopilot.plans.approve(plan.id, digest, { idempotencyKey: 'k' }), bob);
  const point = 'autopilot:approve:after-commit';
  await stack.kill('api');
  stack.spawn('api', 0, { SLIPWAY_PAUSE_POINT: point });
  await stack.ready();
  const unanswered = approve().then(
    () => 'answered',
    () => 'cut',
  );
  await stack.paused('api', 0, point);
  await stack.kill('api');
  expect(await unanswered).toBe('cut');
  stack.spawn('api');
  await stack.ready();
  const retried = await approve();
  expect([retried.status, retried.headers.get('idempotency-replayed'), retried.body.approval.state]).toEqual([
    200,
    'true',
    'approved',
  ]);
  expect(await stack.query('select decision from autopilot_plan_decisions where plan_id = $1', [plan.id])).toHaveLength(
    1,
  );
  expect(
    await stack.query(`select 1 from events where type = 'plan.approved' and data->>'plan_id' = $1`, [plan.id]),
  ).toHaveLength(1);
});

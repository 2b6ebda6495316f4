import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Stack, until } from './stack.js';

jest.setTimeout(120_000);

let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
});
afterAll(() => stack?.stop());

const must = async (status: number, ...request: Parameters<Stack['send']>): Promise<any> => {
  const answer = await stack.send(...request);
  expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
  return answer.body;
};

it('sees slow answers that clients really got, proposes, waits for a person, and the plan rolls out', async () => {
  await must(201, 'POST', '/deployments', { name: 'chat' });
  const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 60 } } };
  const first = await must(202, 'POST', '/deployments/chat/rollouts', { spec, strategy: { type: 'immediate' } });
  expect(await stack.operation(first.operation.id)).toMatchObject({ status: 'succeeded' });
  const policy = {
    slos: [{ metric: 'e2e_latency_ms', threshold: 20 }],
    evidence: { min_samples: 50, min_duration_seconds: 5 },
  };
  await must(200, 'PUT', '/deployments/chat/continual-optimization/policy', policy);

  const plans = async (): Promise<any[]> =>
    (await stack.send('GET', '/autopilot/plans?deployment=chat&state=pending')).body.data;
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
  const types = (await stack.send('GET', '/deployments/chat/events?order=asc&limit=200')).body.data.map(
    (event: any) => event.type,
  );
  expect(types).toContain('autopilot.evidence_insufficient');
  expect(types.indexOf('autopilot.evidence_insufficient')).toBeLessThan(types.indexOf('plan.created'));

  const [plan] = await plans();
  expect(plan).toMatchObject({
    changes: [{ path: '/scaling/min_replicas', from: 1, value: 2 }],
    evidence: [{ metric: 'e2e_latency_ms', stat: 'p95' }],
  });
  expect(plan.evidence[0].baseline.value).toBeGreaterThan(50);
  await must(409, 'POST', '/deployments/chat/rollouts', plan.rollout);
  await must(200, 'POST', `/autopilot/plans/${plan.id}/approve`, { plan_digest: plan.content_digest });
  expect((await stack.send('GET', '/deployments/chat/revisions')).body.data).toHaveLength(1);
  const { operation } = await must(202, 'POST', '/deployments/chat/rollouts', plan.rollout);
  expect(await stack.operation(operation.id, ['waiting'])).toMatchObject({
    current_step: 'soak:1',
    resource_name: 'chat',
  });
  expect((await stack.send('GET', '/deployments/chat/revisions/2')).body).toMatchObject({
    source: { kind: 'plan', plan_id: plan.id },
    spec: { scaling: { min_replicas: 2 } },
  });
});

it('records an approval once where the api dies between its commit and its answer', async () => {
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map(async (id) => {
      const body = { name: id, scopes: ['operator'], owner: { type: 'person', id } };
      return { token: (await must(201, 'POST', '/tokens', body)).token as string };
    }),
  );
  const draft = { deployment: 'chat', changes: [{ path: '/scaling/min_replicas', value: 3 }] };
  const plan = await must(201, 'POST', '/autopilot/plans', draft, alice);
  const approve = () =>
    stack.send(
      'POST',
      `/autopilot/plans/${plan.id}/approve`,
      { plan_digest: plan.content_digest },
      { ...bob, headers: { 'idempotency-key': 'k' } },
    );
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

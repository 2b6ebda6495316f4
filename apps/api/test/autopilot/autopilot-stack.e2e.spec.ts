import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { codeOf } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';
import { writeServedWindows } from './served-windows.js';

jest.setTimeout(240_000);

let stack: Stack;
let slipway: Slipway;

beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
  slipway = stack.slipway();
});
afterAll(() => stack?.stop());

/** Resolves when it is stopped. One client at a time is alone on the instance. */
async function askUntil(stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }], max_tokens: 1 }),
    });
    await answer.text();
  }
}

let isStopped = false;
let asking: Promise<void> | undefined;
afterAll(async () => {
  isStopped = true;
  await asking;
});

it('serves real clients slowly, and has too little evidence at first', async () => {
  await slipway.deployments.create({ name: 'chat' });
  const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 60 } } };
  const first = await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } });
  expect(await stack.operation(first)).toMatchObject({ status: 'succeeded' });
  await slipway.deployments.policy.set('chat', {
    slos: [{ metric: 'e2e_latency_ms', threshold: 20 }],
    evidence: { min_samples: 50, min_duration_seconds: 5 },
  });
  // Records are of whole minutes, so the clients continue during the other tests.
  asking = askUntil(() => isStopped);
  const types = async () =>
    (await slipway.deployments.events.list('chat', { order: 'asc', limit: 200 })).data.map(({ type }) => type);
  await until(
    'it reports thin evidence',
    async () => (await types()).includes('autopilot.evidence_insufficient'),
    60_000,
  );
});

describe('a missed SLO that load explains', () => {
  const evidence = { min_samples: 50, min_duration_seconds: 600 };
  const slos = [{ metric: 'ttft_ms' as const, threshold: 1_200 }];
  const plansOf = async (name: string): Promise<any[]> =>
    (await slipway.autopilot.plans.list({ deployment: name })).data;

  /**
   * A deployment whose one replica has had too much to do for ten minutes, as its gateway would have recorded. Resolves
   * to the start of the last minute.
   */
  async function busy(name: string): Promise<Date> {
    await slipway.deployments.create({ name });
    const spec = { model: { id: name }, runtime: { target: 'local', engine: 'sim' } };
    const operation = await stack.operation(await stack.rollOut(name, { spec, strategy: { type: 'immediate' } }));
    expect(operation).toMatchObject({ status: 'succeeded' });
    return served(name);
  }

  /** Rows that the gateway would have recorded of its active revision. */
  async function served(name: string): Promise<Date> {
    const [row] = await stack.query<{ tenantId: string; revisionId: string; now: Date }>(
      `select tenant_id "tenantId", active_revision_id "revisionId", clock_timestamp() now from deployments where name = $1`,
      [name],
    );
    // Those of other deployments have been merged, and would be merged again.
    await stack.query(`delete from dataplane_request_stats where gateway_id = 'gw'`);
    const windows = await writeServedWindows((sql, values) => stack.query(sql, values), row!, row!.now);
    return new Date(windows.at(-1)!.window_start);
  }

  /** A worker merges records one second after its start, and then every ten seconds. */
  async function merged(last: Date): Promise<void> {
    const isMerged = async () => {
      const [merge] = await stack.query<{ until: Date }>(
        `select merged_until "until" from dataplane_record_merges where seconds = 60`,
      );
      return merge!.until > last;
    };
    await until('its records are merged', isMerged, 60_000);
  }

  it('leads to a plan that waits for a person and then rolls out', async () => {
    await merged(await busy('busy'));
    await slipway.deployments.policy.set('busy', { slos, evidence });
    await until('the autopilot proposes a plan', async () => (await plansOf('busy')).length > 0, 60_000);
    const [plan] = await plansOf('busy');
    expect(plan).toMatchObject({ kind: 'scale_up', changes: [{ path: '/scaling/min_replicas', from: 1, value: 2 }] });
    expect(await codeOf(stack.rollOut('busy', plan.rollout))).toBe('409 plan_not_approved');
    await slipway.autopilot.plans.approve(plan.id, { plan_digest: plan.content_digest });
    expect((await slipway.deployments.revisions.list('busy')).data).toHaveLength(1);
    const id = await stack.rollOut('busy', plan.rollout);
    expect(await stack.operation(id, ['waiting'])).toMatchObject({ current_step: 'soak:1', resource_name: 'busy' });
    expect(await slipway.deployments.revisions.get('busy', '2')).toMatchObject({
      source: { kind: 'plan', plan_id: plan.id },
      spec: { scaling: { min_replicas: 2 } },
    });
  });

  it.each([
    ['after-commit', 1],
    ['before-commit', 0],
    ['planned', 0],
    ['taken', 0],
    ['read', 0],
  ])('leads to one plan if the worker dies at the point %s of its round', async (step, before) => {
    const name = `dying-${step}`;
    const last = await busy(name);
    // The next worker dies in the first round that it comes to.
    await stack.query(`update autopilot_schedules set next_run_at = now() + interval '1 hour'`);
    await stack.kill('worker');
    const point = `autopilot:round:${step}`;
    stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
    await merged(last);
    await slipway.deployments.policy.set(name, { slos, evidence });
    await stack.paused('worker', 0, point);
    await stack.kill('worker');
    expect([step, (await plansOf(name)).length]).toEqual([step, before]);
    stack.spawn('worker');
    await until('the plan is written', async () => (await plansOf(name)).length > 0, 60_000);
    await stack.query(`update autopilot_schedules set next_run_at = now() where deployment_name = $1`, [name]);
    const decided = async () => (await slipway.autopilot.diagnosis.get(name)).decision?.because === 'open_plan';
    await until('the next round finds the plan', decided, 60_000);
    expect(await plansOf(name)).toHaveLength(1);
    const { data: events } = await slipway.deployments.events.list(name, { order: 'asc', limit: 200 });
    expect(events.filter(({ type }) => type === 'plan.created')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'autopilot.diagnosed')).toHaveLength(1);
  });

  describe('an executed plan that made things worse', () => {
    const name = 'worse';
    let plan: any;
    const outcomes = async (): Promise<any[]> => (await slipway.autopilot.plans.get(plan.id)).outcomes;
    const reverts = async () => (await plansOf(name)).filter(({ kind }) => kind === 'revert');
    const recorded = async () =>
      (await slipway.deployments.events.list(name, { type: 'plan.outcome_recorded', limit: 200 })).data.length;

    beforeAll(async () => {
      await busy(name);
      const [alice, bob] = await Promise.all(
        ['alice', 'bob'].map(async (id) => {
          const owner = { type: 'person' as const, id };
          return (await slipway.tokens.create({ name: `${id} of ${name}`, scopes: ['operator'], owner })).token;
        }),
      );
      const predicted = { value: 150, low: 120, high: 190 };
      plan = await stack
        .as(alice!)
        .autopilot.plans.create({
          deployment: name,
          rollout: { spec_patch: { runtime: { args: { ttft_ms: 25 } } }, strategy: { type: 'immediate' } },
          predicted_impact: { metrics: [{ metric: 'ttft_ms', stat: 'p95', now: 200, predicted }] },
        });
      await stack.as(bob!).autopilot.plans.approve(plan.id, { plan_digest: plan.content_digest });
      expect(await stack.operation(await stack.rollOut(name, { plan_id: plan.id }))).toMatchObject({
        status: 'succeeded',
      });
      const isNoted = async () =>
        (await stack.query(`select 1 from autopilot_plan_executions where plan_id = $1`, [plan.id])).length === 1;
      await until('its promotion is noted', isNoted, 60_000);
      await merged(await served(name));
    });

    it.each([
      ['read', 0],
      ['taken', 0],
      ['recorded', 0],
      ['planned', 0],
      ['before-commit', 0],
      ['after-commit', 1],
    ])('has one outcome and one revert plan if the worker dies at the point %s', async (step, before) => {
      await stack.query(`update autopilot_schedules set next_run_at = now() + interval '1 hour'`);
      await stack.kill('worker');
      await stack.query(`delete from autopilot_plan_outcomes`);
      await stack.query(`delete from autopilot_plans where content->>'kind' = 'revert'`);
      await stack.query(
        `update autopilot_plan_executions set promoted_at = now() - interval '1 hour', phase = 'promotion', due_at = now(), needs_revert = false, revert_plan_id = null`,
      );
      const events = await recorded();
      const point = `autopilot:round:${step}`;
      stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
      await slipway.deployments.policy.set(name, { evidence, mode: 'recommend', slos: [] });
      await stack.query(`update autopilot_schedules set next_run_at = now() where deployment_name = $1`, [name]);
      await stack.paused('worker', 0, point);
      await stack.kill('worker');
      expect([step, (await outcomes()).length, (await reverts()).length]).toEqual([step, before, before]);
      stack.spawn('worker');
      const again = `update autopilot_schedules set next_run_at = now() where deployment_name = $1`;
      await stack.query(again, [name]);
      await until('the outcome is recorded', async () => (await outcomes()).length > 0, 60_000);
      await stack.query(`update autopilot_plan_executions set due_at = now()`);
      await stack.query(again, [name]);
      const isTaken = async () =>
        (
          await stack.query(`select 1 from autopilot_schedules where deployment_name = $1 and next_run_at > now()`, [
            name,
          ])
        ).length === 1;
      await until('another round has passed', isTaken, 60_000);
      expect(await outcomes()).toMatchObject([{ phase: 'promotion', metric: 'ttft_ms', result: 'worse' }]);
      expect(await recorded()).toBe(events + 1);
      expect(await reverts()).toMatchObject([
        { approval: { state: 'pending' }, changes: [{ path: '/runtime/args/ttft_ms', from: 25 }] },
      ]);
      expect((await slipway.autopilot.plans.get(plan.id)).content_digest).toBe(plan.content_digest);
    });
  });
});

it('says of slow answers to real clients that replicas cannot help, and proposes none', async () => {
  await stack.query(
    `update autopilot_schedules s set next_run_at = now() from deployments d where d.id = s.deployment_id and d.name = 'chat'`,
  );
  const decision = async () => (await slipway.autopilot.diagnosis.get('chat')).decision;
  await until('the autopilot decides', async () => (await decision())?.because === 'intrinsic', 180_000);
  isStopped = true;
  await asking;
  const { slos, workload } = await slipway.autopilot.diagnosis.get('chat');
  expect(slos).toMatchObject([{ metric: 'e2e_latency_ms', cause: 'intrinsic', replicas: { now: 1, needed: null } }]);
  expect(slos[0]!.idle!.value).toBeGreaterThan(55);
  expect(workload.observed.request_rate).toBeGreaterThan(0);
  const { data: events } = await slipway.deployments.events.list('chat', { order: 'asc', limit: 200 });
  const types = events.map(({ type }) => type);
  expect(types.indexOf('autopilot.evidence_insufficient')).toBeLessThan(types.indexOf('autopilot.slo_missed'));
  expect(types).toContain('autopilot.diagnosed');
  expect((await slipway.autopilot.plans.list({ deployment: 'chat' })).data).toEqual([]);
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
    stack.answerTo(({ autopilot }) => autopilot.plans.approve(plan.id, digest, { idempotencyKey: 'k' }), bob!);
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

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DiscoveryService } from '@nestjs/core';
import { Database } from '@slipway/platform-database';
import { Inbox } from '@slipway/platform-durable/events';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { activateNewest, activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { everyRow } from '../harness/every-row.js';

const SECONDS = 60;
const SLO = { metric: 'e2e_latency_ms', stat: 'p95', threshold: 100 };
const POLICY = { slos: [SLO], evidence: { min_duration_seconds: SECONDS, min_samples: 50 } };

let api: TestApi;
let slipway: Slipway;
let inbox: Inbox;
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
  inbox = new Inbox(api.app.get(Database, { strict: false }), api.app.get(DiscoveryService, { strict: false }));
  await inbox.onApplicationBootstrap();
});

afterAll(async () => {
  await inbox?.beforeApplicationShutdown();
  await api?.close();
});

beforeEach(async () => {
  count += 1;
  chat = await activeDeployment(api, `chat-${count}`);
});

async function policy(body: object = POLICY): Promise<void> {
  await slipway.deployments.policy.set(chat.name, body as BodyOf<'setContinualOptimizationPolicy'>);
}

/** Makes a live gateway that has recorded, for each of the last seconds, `perSecond` answers that took `ms`. */
async function record(
  ms: number,
  options: { seconds?: number; perSecond?: number; revisionId?: string } = {},
): Promise<void> {
  const { seconds = SECONDS, perSecond = 5, revisionId = chat.revisionId } = options;
  const none = { n: 0, sum: 0, sq: 0, b: {} };
  const histograms = {
    ttft_ms: none,
    itl_ms: none,
    e2e_latency_ms: {
      n: perSecond,
      sum: perSecond * ms,
      sq: perSecond * ms * ms,
      b: { [Math.floor(Math.log2(ms) * 8)]: perSecond },
    },
    output_tokens_per_s: none,
  };
  await owned(
    api,
    `insert into dataplane_gateways (gateway_id, seen_at, stats_until) values ('gw', clock_timestamp(), clock_timestamp())
    on conflict (gateway_id) do update set seen_at = clock_timestamp(), stats_until = clock_timestamp()`,
  );
  await owned(
    api,
    `insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, server_error, connect_error, cancelled, retried, streamed,
      tokens_in, tokens_out, histograms)
    select $1, date_trunc('second', now()) - make_interval(secs => s), 'gw', d.tenant_id, $3, 0, 0, 0, 0, 0, 0, 0, 0, $4
    from generate_series(1, $2::int) s, deployments d where d.id = $5 on conflict do nothing`,
    [revisionId, seconds, perSecond, histograms, chat.id],
  );
}

/** Does a worker's work of one second, including this deployment. */
async function sweep(): Promise<void> {
  await inbox.drain();
  await owned(api, `update autopilot_schedules set next_run_at = now() + interval '1 hour'`);
  await owned(api, `update autopilot_schedules set next_run_at = now() where deployment_id = $1`, [chat.id]);
  await owned(api, `update dataplane_gateways set seen_at = clock_timestamp()`);
  await api.app.get(Schedule, { strict: false }).runNow();
}

const plans = async (): Promise<any[]> => (await slipway.autopilot.plans.list({ deployment: chat.name })).data;
const events = async (): Promise<any[]> => {
  const { data } = await slipway.deployments.events.list(chat.name, { order: 'asc', limit: 200 });
  return data.filter(({ type }) => /^(autopilot|plan)\./.test(type));
};
const typesOf = async (): Promise<string[]> => (await events()).map((event) => event.type);

describe('the autopilot', () => {
  it('proposes a plan with its evidence if an SLO is missed, and touches nothing that serves', async () => {
    // By now, a worker would have written the deployment's health.
    await sweep();
    await policy();
    await record(300);
    await inbox.drain();
    const written = [
      'autopilot_plans',
      'autopilot_schedules',
      'events',
      'event_streams',
      'audit_log',
      'audit_heads',
      'audit_anchors',
      'audit_reads',
      'dataplane_gateways',
      'system_workers',
    ];
    const before = await everyRow(api, written);
    await sweep();
    expect(await everyRow(api, written)).toEqual(before);
    const [plan, ...others] = await plans();
    expect(others).toEqual([]);
    expect(plan).toMatchObject({
      created_by: { type: 'system', id: 'autopilot', name: null },
      policy_version: 1,
      base_revision: `${chat.name}-00001`,
      approval: { state: 'pending' },
      risk: { level: 'low' },
      changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 }],
      evidence: [{ kind: 'telemetry', tool: 'slipway', metric: 'e2e_latency_ms', stat: 'p95', candidate: null }],
      rollout: {
        spec_patch: { scaling: { min_replicas: 2 } },
        strategy: { type: 'canary' },
        analysis: { metrics: [{ name: 'e2e_latency_ms', check: 'threshold', threshold: 100 }] },
      },
      execution: { strategy: { type: 'canary' }, analysis: { source: 'rollout' }, target: 'local', is_gated: true },
    });
    expect(plan.evidence[0].baseline.n).toBeGreaterThanOrEqual(290);
    expect(Math.abs(plan.evidence[0].baseline.value - 300)).toBeLessThan(300 * 0.05);
    expect(plan.evidence[0].digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(plan.rollout.strategy.steps.map((step: any) => step.traffic_percent)).toEqual([5, 30, 55, 80, 100]);
    expect(await typesOf()).toEqual(['plan.created']);
    expect(
      await owned(api, `select actor from audit_log where action = 'plan.create' and resource_name = $1`, [plan.id]),
    ).toEqual([{ actor: 'system:autopilot' }]);
  });

  it('makes a plan that a person can approve and execute', async () => {
    await policy();
    await record(300);
    await sweep();
    const [plan] = await plans();
    await slipway.autopilot.plans.approve(plan.id, { plan_digest: plan.content_digest });
    const { operation } = await slipway.deployments.rollouts.create(chat.name, plan.rollout);
    expect(operation.steps.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['provision', 'shift_traffic:1', 'analyze:5', 'promote']),
    );
  });

  it('proposes one plan at a time, even if several workers sweep at once, and then respects the cooldown', async () => {
    await policy();
    await record(300);
    await Promise.all([sweep(), sweep()]);
    await sweep();
    const [plan, ...others] = await plans();
    expect(others).toEqual([]);
    await slipway.autopilot.plans.reject(plan.id);
    await sweep();
    expect(await plans()).toHaveLength(1);
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 } });
    await sweep();
    expect((await plans()).map((one) => one.approval.state)).toEqual(['pending', 'rejected']);
  });

  it('respects the budget of experiments', async () => {
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 }, experiment_budget: { max_experiments: 1 } });
    await record(300);
    await sweep();
    await slipway.autopilot.plans.reject((await plans())[0].id);
    await sweep();
    expect(await plans()).toHaveLength(1);
    expect((await events()).at(-1)).toMatchObject({
      type: 'autopilot.slo_missed',
      data: { because: 'budget', proposed: false },
    });
  });

  it.each<[string, string, object]>([
    [
      'within a freeze window',
      'freeze_window',
      { reliability: { freeze_windows: [{ start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' }] } },
    ],
    ['if nothing may be changed', 'no_allowed_knob', { experiment_budget: { allowed_knobs: [] } }],
    ['if it may only observe', 'observe', { mode: 'observe' }],
  ])('proposes nothing %s, and reports that once', async (_what, because, rest) => {
    await policy({ ...POLICY, ...rest });
    await record(300);
    for (let i = 0; i < 3; i += 1) await sweep();
    expect(await plans()).toEqual([]);
    expect(await events()).toMatchObject([
      {
        type: 'autopilot.slo_missed',
        actor: 'system:autopilot',
        data: { because, slos: [{ ...SLO, samples: expect.any(Number) }] },
      },
    ]);
  });

  it('proposes nothing that the target cannot run', async () => {
    chat = await activeDeployment(api, `full-${count}`, {
      spec: { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' }, scaling: { min_replicas: 16 } },
    });
    await policy();
    await record(300);
    await sweep();
    expect(await plans()).toEqual([]);
    expect(await events()).toMatchObject([{ type: 'autopilot.slo_missed', data: { because: 'not_runnable' } }]);
  });

  it('reports once that the evidence is insufficient, and proposes nothing', async () => {
    await policy();
    await record(300, { seconds: 5 });
    for (let i = 0; i < 3; i += 1) await sweep();
    expect(await plans()).toEqual([]);
    expect(await events()).toMatchObject([
      {
        type: 'autopilot.evidence_insufficient',
        data: { because: 'samples', evidence: { min_samples: 50, min_duration_seconds: SECONDS } },
      },
    ]);
  });

  it('reports nothing if the SLO is met, no SLO is set, or the mode is off', async () => {
    await policy();
    await record(20);
    await sweep();
    await policy({ slos: [] });
    await sweep();
    await policy({ ...POLICY, mode: 'off' });
    await sweep();
    expect([await plans(), await events()]).toEqual([[], []]);
    expect(await owned(api, 'select 1 from autopilot_schedules where deployment_id = $1', [chat.id])).toEqual([]);
  });

  it('supersedes its own plan when the base is no longer active, and evaluates the new base', async () => {
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 } });
    await record(300);
    await sweep();
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { runtime: { args: { ttft_ms: 1 } } } });
    await sweep();
    expect((await plans()).map((one) => one.approval.state)).toEqual(['pending']);
    const revisionId = await activateNewest(api, chat.id);
    await record(300, { revisionId });
    await sweep();
    expect((await plans()).map((one) => [one.base_revision, one.approval.state])).toEqual([
      [`${chat.name}-00002`, 'pending'],
      [`${chat.name}-00001`, 'superseded'],
    ]);
    expect(await typesOf()).toEqual(['plan.created', 'plan.superseded', 'plan.created']);
  });

  it('records and reports that a plan has expired', async () => {
    await policy({ promotion: { plan_ttl_seconds: 1 } });
    const changes = [{ path: '/scaling/min_replicas', value: 2 }];
    const { id } = await slipway.autopilot.plans.create({ deployment: chat.name, changes });
    const isExpired = async (): Promise<boolean> =>
      (await slipway.autopilot.plans.get(id)).approval.state === 'expired';
    for (const deadline = Date.now() + 10_000; !(await isExpired());) expect(Date.now()).toBeLessThan(deadline);
    await Promise.all([sweep(), sweep()]);
    expect((await plans())[0].approval).toMatchObject({
      state: 'expired',
      version: 1,
      ended: { by: { type: 'system', id: 'clock', name: null } },
    });
    expect(await typesOf()).toEqual(['plan.created', 'plan.expired']);
  });

  it('forgets a deleted deployment', async () => {
    await policy();
    await api.app
      .get(Database, { strict: false })
      .tx('system', (tx) => tx.query(`update deployments set deleted_at = now() where id = $1`, [chat.id]));
    await sweep();
    expect(await owned(api, 'select 1 from autopilot_schedules where deployment_id = $1', [chat.id])).toEqual([]);
  });
});

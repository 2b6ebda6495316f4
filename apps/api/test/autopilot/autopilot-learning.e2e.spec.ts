import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database, digestOf } from '@slipway/platform-database';
import { appendEvents, type Inbox } from '@slipway/platform-durable/events';
import { activateNewest, activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { codeOf } from '../harness/refusals.js';
import { forgetRecords, openInbox, recordTraffic, reportGateway, sweepRounds } from './rounds-bed.js';
import type { ServedTraffic } from './served-windows.js';

const SLO = { metric: 'ttft_ms', stat: 'p95', threshold: 1_200 };
const POLICY = {
  slos: [SLO],
  evidence: { min_duration_seconds: 600, min_samples: 50 },
  promotion: { cooldown_seconds: 0, outcome_window_seconds: 7_200 },
};
/** At a load of 2, the TTFT p95 is about 240 ms; of 14, about 1,700 ms. */
const CALM = { busyLoad: 2, busyMinutes: 70 };
const impact = (value: number, now: number) => ({
  metrics: [
    {
      metric: 'ttft_ms',
      stat: 'p95',
      now,
      predicted: { value, low: value * 0.8, high: value * 1.25 },
      confidence: 0.9,
    },
  ],
});

let api: TestApi;
let slipway: Slipway;
let inbox: Inbox;
let author: Slipway;
let person: Slipway;
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
  [author, person] = [api.slipway(await api.createPerson('alice')), api.slipway(await api.createPerson('bob'))];
  inbox = await openInbox(api);
});

afterAll(async () => {
  await inbox?.beforeApplicationShutdown();
  await api?.close();
});

beforeEach(async () => {
  count += 1;
  await forgetRecords(api);
  await reportGateway(api);
  chat = await activeDeployment(api, `learns-${count}`);
});

const policy = (body: object = POLICY) =>
  slipway.deployments.policy.set(chat.name, body as BodyOf<'setContinualOptimizationPolicy'>);

const record = (revisionId: string, traffic: Partial<ServedTraffic> = {}): Promise<void> =>
  recordTraffic(api, chat.id, revisionId, traffic);
const sweep = (): Promise<void> => sweepRounds(api, inbox, chat.id);

/** A plan of a person for so many replicas. */
async function planned(replicas: number, predicted_impact: object, more: object = {}): Promise<any> {
  const changes = [{ path: '/scaling/min_replicas', value: replicas }];
  const body = { deployment: chat.name, changes, predicted_impact, ...more };
  const plan = await author.autopilot.plans.create(body as BodyOf<'createAutopilotPlan'>);
  return person.autopilot.plans.approve(plan.id, { plan_digest: plan.content_digest });
}

/** Executes it: its rollout ended an hour ago. Returns the revision. */
async function executed(plan: any, type = 'rollout.promoted'): Promise<string> {
  await slipway.deployments.rollouts.create(chat.name, plan.rollout);
  const revisionId = await activateNewest(api, chat.id);
  await ended(plan, revisionId, type);
  await owned(api, `update autopilot_plan_executions set promoted_at = now() - interval '1 hour' where plan_id = $1`, [
    plan.id,
  ]);
  return revisionId;
}

async function ended(plan: any, revisionId: string, type: string): Promise<void> {
  const [row] = await owned<{ tenantId: string }>(api, `select tenant_id "tenantId" from deployments where id = $1`, [
    chat.id,
  ]);
  const event = {
    type,
    subject: `deployments/${chat.name}`,
    actor: { type: 'system' as const, id: 'worker' },
    revisionId,
    data: { plan_id: plan.id },
  };
  const database = api.app.get(Database, { strict: false });
  await database.tx('system', (tx) => appendEvents(tx, row!.tenantId, `deployments/${chat.id}`, [event]));
  await inbox.drain();
}

const due = (plan: any) =>
  owned(api, `update autopilot_plan_executions set due_at = now() where plan_id = $1 and phase <> 'done'`, [plan.id]);
const read = (plan: { id: string }): Promise<any> => slipway.autopilot.plans.get(plan.id);
const plans = async (): Promise<any[]> => (await slipway.autopilot.plans.list({ deployment: chat.name })).data;
const eventsOf = async (type: string): Promise<any[]> =>
  (await slipway.deployments.events.list(chat.name, { limit: 200 })).data.filter((one) => one.type === type);
const decision = async () => (await slipway.autopilot.diagnosis.get(chat.name)).decision;

describe('the outcome of a plan', () => {
  it('is recorded once after the promotion and once after the window, next to the plan and not in it', async () => {
    await policy();
    const plan = await planned(2, impact(240, 1_700));
    const revisionId = await executed(plan);
    await sweep();
    expect((await read(plan)).outcomes).toEqual([]);
    await record(revisionId, CALM);
    await due(plan);
    await sweep();
    const first = await read(plan);
    expect(first.outcomes).toMatchObject([
      {
        phase: 'promotion',
        metric: 'ttft_ms',
        stat: 'p95',
        now: 1_700,
        predicted: { value: 240, low: 192, high: 300 },
        within: true,
        result: 'as_predicted',
      },
    ]);
    const [{ achieved, log_error }] = first.outcomes;
    expect(achieved.n).toBeGreaterThan(50);
    expect(log_error).toBeCloseTo(Math.log(achieved.value / 240), 4);
    expect(first.assumptions_hold).toBeNull();
    await due(plan);
    await sweep();
    // The window has not passed.
    expect((await read(plan)).outcomes).toHaveLength(1);
    await owned(
      api,
      `update autopilot_plan_executions set promoted_at = now() - interval '2 hours' where plan_id = $1`,
      [plan.id],
    );
    await due(plan);
    await Promise.all([sweep(), sweep()]);
    await due(plan);
    await sweep();
    const last = await read(plan);
    expect(last.outcomes.map((one: any) => one.phase)).toEqual(['promotion', 'window']);
    const etags = [plan.etag, first.etag, last.etag];
    expect(new Set(etags.map((etag) => etag.replace('.stale', ''))).size).toBe(3);
    expect(last.etag).toContain('.outcomes-2');
    expect(last.content_digest).toBe(plan.content_digest);
    const { content_digest, approval, stale, etag, outcomes, assumptions_hold, ...frozen } = last;
    expect(digestOf(frozen)).toBe(content_digest);
    expect([approval.state, stale, etag, outcomes.length, assumptions_hold]).toEqual([
      'approved',
      true,
      last.etag,
      2,
      null,
    ]);
    const recorded = await eventsOf('plan.outcome_recorded');
    expect(recorded.map(({ data }) => [data.plan_id, data.phase, data.outcomes[0].result]).reverse()).toEqual([
      [plan.id, 'promotion', 'as_predicted'],
      [plan.id, 'window', 'as_predicted'],
    ]);
    expect((await plans()).find((one) => one.id === plan.id).outcomes).toEqual(last.outcomes);
    const [unchanged] = [
      await api.answerTo((by) => by.autopilot.plans.get(plan.id, { ifNoneMatch: last.etag } as any)),
    ];
    expect([200, 304]).toContain(unchanged.status);
  });

  it('is rolled back if another revision replaces that of the plan, at once, and ends there', async () => {
    await policy();
    const plan = await planned(2, impact(240, 1_700));
    await executed(plan);
    await sweep();
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { runtime: { args: { ttft_ms: 1 } } } });
    await activateNewest(api, chat.id);
    await sweep();
    await sweep();
    expect((await read(plan)).outcomes).toMatchObject([{ phase: 'promotion', result: 'rolled_back', achieved: null }]);
    expect(await eventsOf('plan.outcome_recorded')).toHaveLength(1);
  });

  it('is rolled back if its rollout was reverted, until a later attempt is promoted', async () => {
    await policy();
    const plan = await planned(2, impact(240, 1_700));
    await ended(plan, 'rev_reverted', 'rollout.reverted');
    await sweep();
    expect((await read(plan)).outcomes).toMatchObject([{ result: 'rolled_back' }]);
    const revisionId = await executed(plan);
    await record(revisionId, CALM);
    // A late event of the attempt that failed.
    await ended(plan, 'rev_reverted', 'rollout.reverted');
    await due(plan);
    await sweep();
    expect((await read(plan)).outcomes).toMatchObject([{ phase: 'promotion', result: 'as_predicted' }]);
  });

  it('is nothing for a plan that predicts nothing readable, and for events without a plan', async () => {
    await policy();
    const plan = await planned(2, { metrics: 'much faster' });
    const revisionId = await executed(plan);
    await ended({ id: 'plan_gone' }, revisionId, 'rollout.promoted');
    await record(revisionId, CALM);
    await due(plan);
    await sweep();
    expect((await read(plan)).outcomes).toEqual([]);
    expect(await eventsOf('plan.outcome_recorded')).toEqual([]);
  });
});

describe('a plan that makes things worse', () => {
  const evidence = [
    { kind: 'telemetry', metric: 'ttft_ms', stat: 'p95', baseline: { value: 240, n: 500 }, candidate: null },
  ];

  /** One of four replicas is left, and far too busy. */
  async function worse(): Promise<{ plan: any; revisionId: string }> {
    chat = await activeDeployment(api, `worse-${count}`, {
      spec: { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' }, scaling: { min_replicas: 4 } },
    });
    await policy();
    const plan = await planned(1, impact(300, 240), { evidence });
    const revisionId = await executed(plan);
    await record(revisionId);
    await due(plan);
    await sweep();
    return { plan, revisionId };
  }

  it('gets one revert plan, which waits for a person and is not executed', async () => {
    const { plan } = await worse();
    expect((await read(plan)).outcomes).toMatchObject([{ result: 'worse', within: false }]);
    await sweep();
    const [revert, ...others] = (await plans()).filter((one) => one.kind === 'revert');
    expect(others).toEqual([]);
    expect(revert).toMatchObject({
      created_by: { type: 'system', id: 'autopilot' },
      approval: { state: 'pending' },
      stale: false,
      base_revision: `${chat.name}-00002`,
      changes: [{ path: '/scaling/min_replicas', from: 1 }],
      predicted_impact: { metrics: [{ metric: 'ttft_ms', stat: 'p95', predicted: { value: 240 } }] },
    });
    expect(revert.summary).toContain(`Plan ${plan.id} made the service worse: TTFT p95 is `);
    const revisions = await slipway.deployments.revisions.list(chat.name);
    expect(revisions.data).toHaveLength(2);
    expect(await codeOf(slipway.deployments.rollouts.create(chat.name, revert.rollout))).toBe('409 plan_not_approved');
    await person.autopilot.plans.approve(revert.id, { plan_digest: revert.content_digest });
    const { operation } = await slipway.deployments.rollouts.create(chat.name, { plan_id: revert.id });
    expect(operation.resource_name).toBe(chat.name);
  });

  it('gets none while the policy only observes or a freeze window is open, and one afterwards', async () => {
    const { plan } = await worse();
    await owned(
      api,
      `update autopilot_plan_executions set needs_revert = true, revert_plan_id = null where plan_id = $1`,
      [plan.id],
    );
    const before = (await plans()).length;
    await policy({ ...POLICY, mode: 'observe' });
    await sweep();
    const freeze_windows = [{ start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' }];
    await policy({ ...POLICY, reliability: { freeze_windows } });
    await sweep();
    expect(await plans()).toHaveLength(before);
    await policy();
    await sweep();
    expect(await plans()).toHaveLength(before + 1);
  });

  it('is not proposed again by the autopilot, which names the plan, until the model changes', async () => {
    await policy();
    const plan = await planned(2, impact(240, 1_700));
    const revisionId = await executed(plan);
    // Two replicas were no help: after the revert, one is as busy as before.
    await record(revisionId);
    await due(plan);
    await sweep();
    expect((await read(plan)).outcomes).toMatchObject([{ result: 'no_effect' }]);
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { scaling: { min_replicas: 1 } } });
    await owned(
      api,
      `update deployments set active_revision_id = $2, candidate_revision_id = null, current_operation_id = null where id = $1`,
      [chat.id, chat.revisionId],
    );
    await owned(api, `update operations set status = 'succeeded', completed_at = now() where resource_id = $1`, [
      chat.id,
    ]);
    // The arrivals of both revisions would be added up.
    await forgetRecords(api);
    await record(chat.revisionId);
    await sweep();
    expect(await decision()).toMatchObject({ because: 'barred', message: expect.stringContaining(`Plan ${plan.id} `) });
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { model: { id: 'another' } } });
    await record(await activateNewest(api, chat.id));
    await sweep();
    const [newest] = await plans();
    expect(newest).toMatchObject({ kind: 'scale_up', changes: [{ path: '/scaling/min_replicas', value: 2 }] });
  });
});

describe('the calibration', () => {
  /** An executed plan of the autopilot in the records, with this error. */
  async function learned(tenant: string, logError: number, kind = 'scale_up'): Promise<void> {
    const id = `plan_cal_${tenant}_${Math.abs(logError)}_${kind}`;
    await owned(
      api,
      `insert into autopilot_plans (id, tenant_id, deployment_id, deployment_name, base_revision_id, spec_digest, content, content_digest, approvals_required, prevent_self_approval, created_by, created_at, expires_at)
       values ($1, $2, 'dep_cal', 'calibrated', 'rev', 'd', '{}', 'd', 1, true, '{}', now(), now() + interval '1 day')`,
      [id, tenant],
    );
    await owned(
      api,
      `insert into autopilot_plan_outcomes (plan_id, phase, metric, stat, tenant_id, deployment_id, kind, now, predicted, achieved, within, log_error, result, has_moved)
       values ($1, 'promotion', 'ttft_ms', 'p95', $2, 'dep_cal', $3, 900, '{"value":300,"low":240,"high":375}', $4, true, $5::float8, 'as_predicted', true)`,
      [id, tenant, kind, JSON.stringify({ value: 300 * Math.exp(logError), low: 290, high: 310, n: 99 }), logError],
    );
  }

  it('is that of the own tenant: from nine plans on, new plans use it', async () => {
    const [row] = await owned<{ tenantId: string }>(api, `select tenant_id "tenantId" from deployments where id = $1`, [
      chat.id,
    ]);
    for (let n = 1; n <= 20; n += 1) await learned('another-tenant', n);
    const empty = await slipway.autopilot.calibration.get();
    expect(empty).toMatchObject({ level_percent: 90, calibrated_on: 0, least_plans: 9 });
    expect(empty.half_width_percent).toBeCloseTo(28.4);
    expect(JSON.stringify(empty)).not.toContain('another-tenant');
    for (let n = 1; n <= 8; n += 1) await learned(row!.tenantId, n / 100);
    // Predictions of people do not count for the autopilot's intervals.
    await learned(row!.tenantId, 2, 'manual');
    expect((await slipway.autopilot.calibration.get()).calibrated_on).toBe(0);
    await learned(row!.tenantId, 0.5);
    const full = await slipway.autopilot.calibration.get();
    expect(full).toMatchObject({ calibrated_on: 9 });
    expect(full.half_width_percent).toBeCloseTo(64.9);
    const up = full.kinds.find(({ kind }) => kind === 'scale_up')!;
    expect(up.n).toBe(9);
    expect(up.predictions[0]).toMatchObject({ deployment: 'calibrated', metric: 'ttft_ms', moved: true });
    await policy();
    await record(chat.revisionId);
    await sweep();
    const [plan] = await plans();
    const [{ predicted, calibrated_on }] = plan.predicted_impact.metrics;
    expect(calibrated_on).toBe(9);
    expect(predicted.high / predicted.value).toBeCloseTo(Math.exp(0.5), 2);
    expect(plan.summary).toContain('by 9 earlier plans');
  });
});

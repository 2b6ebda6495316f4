import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '@slipway/platform-database';
import type { Inbox } from '@slipway/platform-durable/events';
import { activateNewest, activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { everyRow } from '../harness/every-row.js';
import { codeOf } from '../harness/refusals.js';
import { forgetRecords, openInbox, recordTraffic, reportGateway, sweepRounds } from './rounds-bed.js';
import type { ServedTraffic } from './served-windows.js';

const SECONDS = 600;
const SLO = { metric: 'ttft_ms', stat: 'p95', threshold: 1_200 };
const POLICY = { slos: [SLO], evidence: { min_duration_seconds: SECONDS, min_samples: 50 } };
/** Tables that gateways and the merge of their rows write. */
const RECORDS = [
  'dataplane_gateways',
  'dataplane_request_stats',
  'dataplane_service_records',
  'dataplane_record_merges',
];

let api: TestApi;
let slipway: Slipway;
let inbox: Inbox;
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
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
  chat = await activeDeployment(api, `chat-${count}`);
});

async function policy(body: object = POLICY): Promise<void> {
  await slipway.deployments.policy.set(chat.name, body as BodyOf<'setContinualOptimizationPolicy'>);
}

/** Lets the gateway have recorded this traffic until now: of one replica that two would serve well. */
const record = (traffic: Partial<ServedTraffic> = {}, revisionId = chat.revisionId): Promise<void> =>
  recordTraffic(api, chat.id, revisionId, traffic);
const sweep = (): Promise<void> => sweepRounds(api, inbox, chat.id);

const plans = async (): Promise<any[]> => (await slipway.autopilot.plans.list({ deployment: chat.name })).data;
const events = async (): Promise<any[]> => {
  const { data } = await slipway.deployments.events.list(chat.name, { order: 'asc', limit: 200 });
  return data.filter(({ type }) => /^(autopilot|plan)\./.test(type));
};
const typesOf = async (): Promise<string[]> => (await events()).map((event) => event.type);

const diagnosis = () => slipway.autopilot.diagnosis.get(chat.name);
const decision = async () => (await diagnosis()).decision;

describe('the autopilot', () => {
  it('proposes a plan with its evidence if an SLO is missed, and touches nothing that serves', async () => {
    // By now, a worker would have written the deployment's health.
    await sweep();
    await policy();
    await record();
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
      'stored_changes',
      'stored_totals',
      'system_workers',
      ...RECORDS,
    ];
    const before = await everyRow(api, written);
    await sweep();
    expect(await everyRow(api, written)).toEqual(before);
    const [plan, ...others] = await plans();
    expect(others).toEqual([]);
    expect(plan).toMatchObject({
      kind: 'scale_up',
      created_by: { type: 'system', id: 'autopilot', name: null },
      policy_version: 1,
      base_revision: `${chat.name}-00001`,
      approval: { state: 'pending' },
      risk: { level: 'low' },
      changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 }],
      evidence: [{ kind: 'telemetry', tool: 'slipway', metric: 'ttft_ms', stat: 'p95', candidate: null }],
      rollout: {
        spec_patch: { scaling: { min_replicas: 2 } },
        strategy: { type: 'canary' },
        analysis: {
          metrics: [
            { name: 'ttft_ms', check: 'threshold', threshold: 1_200 },
            { name: 'error_rate', check: 'threshold', threshold: 0.05 },
          ],
        },
      },
      execution: { strategy: { type: 'canary' }, analysis: { source: 'rollout' }, target: 'local', is_gated: true },
      predicted_impact: { metrics: [{ metric: 'ttft_ms', stat: 'p95', calibrated_on: 0 }], cost: null, gpu_hours: 0 },
    });
    const guards = plan.execution.analysis.guards.map(({ name }: { name: string }) => name);
    expect(guards).toEqual(['client_error_rate', 'overloaded_rate', 'abandoned_rate']);
    const [{ now, predicted }] = plan.predicted_impact.metrics;
    expect(now).toBeGreaterThan(1_400);
    expect(predicted.high).toBeLessThan(1_200);
    expect(plan.assumes.peak_request_rate).toBeGreaterThan(0.9);
    expect(plan.evidence[0].baseline.n).toBeGreaterThanOrEqual(600);
    expect(plan.evidence[0].digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(plan.summary).toMatch(
      /^TTFT p95 is 1,\d+ ms, limit 1,200; on an idle instance it is .* Run 2 replicas instead of 1 .* predicts TTFT p95 /,
    );
    expect(plan.rollout.strategy.steps.map((step: any) => step.traffic_percent)).toEqual([5, 30, 55, 80, 100]);
    expect(await typesOf()).toEqual(['autopilot.diagnosed', 'plan.created']);
    expect(await decision()).toMatchObject({ plan_id: plan.id, message: plan.summary, until: null });
    expect(
      await owned(api, `select actor from audit_log where action = 'plan.create' and resource_name = $1`, [plan.id]),
    ).toEqual([{ actor: 'system:autopilot' }]);
  });

  it('makes a plan that a person can approve and execute', async () => {
    await policy();
    await record();
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
    await record();
    await Promise.all([sweep(), sweep()]);
    await sweep();
    const [plan, ...others] = await plans();
    expect(others).toEqual([]);
    expect(await decision()).toMatchObject({ because: 'open_plan' });
    await slipway.autopilot.plans.reject(plan.id);
    await sweep();
    expect(await plans()).toHaveLength(1);
    const cooling = await decision();
    expect(cooling).toMatchObject({
      because: 'cooldown',
      message: expect.stringContaining('cooldown_seconds is 24 h'),
    });
    expect(Date.parse(cooling!.until!) - Date.parse(plan.created_at)).toBe(86_400_000);
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 } });
    await sweep();
    const barred = await decision();
    expect(barred).toMatchObject({ because: 'barred', message: expect.stringContaining(`Plan ${plan.id} `) });
    expect(Date.parse(barred!.until!)).toBeGreaterThan(Date.parse(plan.created_at) + 604_800_000);
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 }, workload: { profile: 'chat' } });
    await sweep();
    expect((await plans()).map((one) => one.approval.state)).toEqual(['pending', 'rejected']);
  });

  it('respects the budget of experiments', async () => {
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 }, experiment_budget: { max_experiments: 1 } });
    await record();
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
    ['that the target has no capacity for', 'no_capacity', { reliability: { min_replicas: 17 } }],
  ])('proposes nothing %s, and reports that once', async (_what, because, rest) => {
    await policy({ ...POLICY, ...rest });
    await record();
    for (let i = 0; i < 3; i += 1) await sweep();
    expect(await plans()).toEqual([]);
    expect(await events()).toMatchObject([
      { type: 'autopilot.diagnosed', data: { slos: [{ ...SLO, cause: 'load_dependent', changed: true }] } },
      {
        type: 'autopilot.slo_missed',
        actor: 'system:autopilot',
        data: { because, slos: [{ ...SLO, samples: expect.any(Number), value: expect.any(Number) }] },
      },
    ]);
    expect(await decision()).toMatchObject({
      because,
      message: expect.stringMatching(/TTFT p95 is 1,\d+ ms, limit 1,200/),
    });
  });

  it('never proposes replicas for a deployment that misses its SLO on an idle instance', async () => {
    await policy();
    await record({ firstTokenMs: 2_000 });
    await sweep();
    expect(await plans()).toEqual([]);
    const { decision, slos, window, cost } = await diagnosis();
    expect(decision).toMatchObject({
      because: 'intrinsic',
      message: expect.stringContaining('Even on an idle instance'),
    });
    expect(slos).toMatchObject([
      { ...SLO, cause: 'intrinsic', replicas: { now: 1, needed: null, at_rate: null }, predicted: null },
    ]);
    expect(slos[0]!.idle!.low).toBeGreaterThan(1_200);
    expect(slos[0]!.curve.length).toBeGreaterThan(2);
    expect(Date.parse(window!.to) - Date.parse(window!.from)).toBe(SECONDS * 1_000);
    expect(cost).toEqual({ now: null, devices: 0 });
  });

  it('shows the request that helps if the deployment overrides the number of replicas', async () => {
    await slipway.deployments.update(chat.name, { scaling: { min_replicas: 1 } });
    await policy();
    await record();
    await sweep();
    expect(await plans()).toEqual([]);
    expect(await decision()).toMatchObject({
      because: 'deployment_overrides',
      message: expect.stringContaining(`PATCH /api/v1/deployments/${chat.name} with {"scaling":{"min_replicas":2}}`),
    });
  });

  it('reports once that the evidence is insufficient, and proposes nothing', async () => {
    await policy();
    await record({ minutes: 1, busyMinutes: 1, perMinute: 49 });
    for (let i = 0; i < 3; i += 1) await sweep();
    expect(await plans()).toEqual([]);
    expect(await events()).toMatchObject([
      {
        type: 'autopilot.evidence_insufficient',
        data: { because: 'samples', evidence: { min_samples: 50, min_duration_seconds: SECONDS } },
      },
    ]);
    expect(await decision()).toMatchObject({ because: 'samples' });
  });

  it('needs samples from all of the window', async () => {
    await policy();
    await record({ minutes: 4, busyMinutes: 4 });
    await sweep();
    expect(await decision()).toMatchObject({ because: 'duration' });
  });

  it('reports once that the SLO is met, and that no SLO is set; with the mode off it stops', async () => {
    await policy();
    await record({ busyLoad: 2 });
    for (let i = 0; i < 3; i += 1) await sweep();
    expect(await events()).toMatchObject([
      { type: 'autopilot.diagnosed', data: { slos: [{ cause: 'met' }] } },
      { type: 'autopilot.quiet', data: { because: 'met', slos: [] } },
    ]);
    await policy({ slos: [] });
    await sweep();
    expect((await events()).at(-1)).toMatchObject({ type: 'autopilot.quiet', data: { because: 'no_slos' } });
    await policy({ ...POLICY, mode: 'off' });
    await sweep();
    expect(await plans()).toEqual([]);
    expect(await owned(api, 'select 1 from autopilot_schedules where deployment_id = $1', [chat.id])).toEqual([]);
  });

  it('supersedes its own plan when the base is no longer active, and evaluates the new base', async () => {
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 } });
    await record();
    await sweep();
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { runtime: { args: { ttft_ms: 1 } } } });
    await sweep();
    expect((await plans()).map((one) => one.approval.state)).toEqual(['pending']);
    const revisionId = await activateNewest(api, chat.id);
    await record({}, revisionId);
    await sweep();
    expect((await plans()).map((one) => [one.base_revision, one.approval.state])).toEqual([
      [`${chat.name}-00002`, 'pending'],
      [`${chat.name}-00001`, 'superseded'],
    ]);
    const types = await typesOf();
    expect(types.filter((type) => type.startsWith('plan.'))).toEqual([
      'plan.created',
      'plan.superseded',
      'plan.created',
    ]);
  });

  it('learns from a revision that differs only in the number of replicas, and judges only the active one', async () => {
    await policy({ ...POLICY, promotion: { cooldown_seconds: 0 } });
    await record({ busyMinutes: 0 });
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { scaling: { max_replicas: 4 } } });
    const revisionId = await activateNewest(api, chat.id);
    await record({ minutes: 10 }, revisionId);
    await sweep();
    // Alone, the new revision was never seen at a low load.
    expect((await plans()).map(({ changes }) => changes)).toMatchObject([[{ path: '/scaling/min_replicas', from: 1 }]]);
    await slipway.deployments.rollouts.create(chat.name, { spec_patch: { runtime: { args: { ttft_ms: 1 } } } });
    await record({ minutes: 10 }, await activateNewest(api, chat.id));
    await sweep();
    expect(await decision()).toMatchObject({ because: 'unknown' });
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
    expect((await typesOf()).filter((type) => type.startsWith('plan.'))).toEqual(['plan.created', 'plan.expired']);
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

describe('a diagnosis', () => {
  it('needs a policy, and is shown to every viewer of the tenant and to no other tenant', async () => {
    const get = (by: Slipway = slipway) => by.autopilot.diagnosis.get(chat.name);
    expect(await codeOf(get())).toBe('404 policy_not_found');
    expect(await codeOf(slipway.autopilot.diagnosis.get('none'))).toBe('404 deployment_not_found');
    await policy();
    const viewer = await slipway.tokens.create({ name: `viewer-${count}`, scopes: ['viewer'] });
    expect(await get(api.slipway(viewer.token!))).toMatchObject({ deployment: chat.name, decision: null });
    const stranger = api.slipway((await api.createTenant(`other-${count}`)).token);
    expect(await codeOf(get(stranger))).toBe('404 deployment_not_found');
  });

  it('shows the declared workload next to the observed one', async () => {
    await policy({ ...POLICY, workload: { request_rate: 6, input_tokens: { p95: 480 } } });
    await record();
    const { workload, slos } = await diagnosis();
    expect(workload.declared).toEqual({ request_rate: 6, input_tokens_p95: 480 });
    expect(workload.observed.request_rate).toBeGreaterThan(0.9);
    expect(workload.moved).toEqual(['request_rate']);
    await sweep();
    expect((await events())[0]).toMatchObject({
      type: 'autopilot.diagnosed',
      data: { workload_moved: ['request_rate'] },
    });
    expect(slos[0]!.replicas.at_rate).toBe(6);
    expect(slos[0]!.replicas.needed).toBeGreaterThan(2);
  });

  it('writes nothing, and needs no gateway', async () => {
    await policy();
    await record();
    await inbox.drain();
    const written = ['audit_reads', 'audit_log', 'audit_heads', 'dataplane_gateways'];
    const before = await everyRow(api, written);
    expect((await diagnosis()).slos).toHaveLength(1);
    expect(await everyRow(api, written)).toEqual(before);
    await owned(api, `delete from dataplane_gateways`);
    const answer = await slipway.autopilot.diagnosis.get(chat.name);
    expect(answer).toMatchObject({ window: null, slos: [], workload: { observed: { request_rate: null } } });
  });
});

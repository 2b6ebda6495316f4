import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { owned } from '@slipway/platform-testing/contract';
import type { BodyOf, OptionsOf, Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { codeOf, refusalOf } from '../harness/refusals.js';

let api: TestApi;
let slipway: Slipway;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
  await slipway.deployments.create({ name: 'chat' });
});

afterAll(async () => {
  await api?.close();
});

type Policy = BodyOf<'setContinualOptimizationPolicy'>;

/** @param body may break the types, so that the api refuses it */
const put = (body: object, options?: OptionsOf<'setContinualOptimizationPolicy'>, by = slipway) =>
  by.deployments.policy.set('chat', body as Policy, options);
const rehearse = (body: object) => slipway.deployments.policy.rehearse('chat', body as Policy);
const read = (by = slipway, deployment = 'chat') => by.deployments.policy.get(deployment);

const eventTypes = async (): Promise<string[]> =>
  (await slipway.deployments.events.list('chat', { type: 'policy.updated' })).data.map(({ type }) => type);

describe('the continual-optimization policy', () => {
  it('is 404 before the first PUT and for an unknown deployment, and If-Match cannot match', async () => {
    expect(await codeOf(read())).toBe('404 policy_not_found');
    expect(await codeOf(read(slipway, 'none'))).toBe('404 deployment_not_found');
    const faulty = { mode: 'x' as 'off' };
    expect(await codeOf(slipway.deployments.policy.set('none', faulty))).toBe('404 deployment_not_found');
    expect(await codeOf(put({}, { ifMatch: '"x"' }))).toBe('412 precondition_failed');
  });

  it('shows every default of an empty body', async () => {
    const answer = await api.answerTo((by) => put({}, {}, by));
    expect(answer.body).toMatchObject({
      deployment: 'chat',
      version: 1,
      mode: 'recommend',
      slos: [],
      evidence: { min_samples: 50, min_duration_seconds: 1800, max_age_seconds: 604800, confidence: 0.95 },
      experiment_budget: { max_parallel: 1, max_traffic_percent: 5 },
      reliability: { min_replicas: 1, spare_replicas: 0, right_size_after_seconds: 604800, freeze_windows: [] },
      promotion: {
        approvals_required: 1,
        prevent_self_approval: true,
        max_step_percent: 25,
        cooldown_seconds: 86400,
        plan_ttl_seconds: 604800,
        min_gain_percent: 5,
        outcome_window_seconds: 86_400,
      },
      updated_by: { type: 'token' },
    });
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, answer.body.etag]);
  });

  it('makes a new version only if the content changes; all versions are kept and immutable', async () => {
    const first = await read();
    expect(await put({ evidence: {} })).toEqual(first);
    const other = { slos: [{ metric: 'ttft_ms', threshold: 200 }] } satisfies Policy;
    for (const ifNoneMatch of ['*', first.etag])
      expect(await codeOf(put(other, { ifNoneMatch }))).toBe('412 precondition_failed');
    const second = await put({ slos: [{ metric: 'ttft_ms', threshold: 200 }] }, { ifMatch: first.etag });
    expect(second).toMatchObject({ version: 2, slos: [{ metric: 'ttft_ms', stat: 'p95', threshold: 200 }] });
    expect(await eventTypes()).toEqual(['policy.updated', 'policy.updated']);
    expect(
      (await owned(api, 'select version from optimization_policies order by version')).map((row) => row['version']),
    ).toEqual([1, 2]);
    await expect(owned(api, `update optimization_policies set content = '{}'`)).rejects.toThrow('never changes');
    expect(await owned(api, `select 1 from audit_log where action = 'policy.set'`)).toHaveLength(2);
  });

  it("reads a version that is older than a field with the field's default, and a PUT of the same content adds no version", async () => {
    const body = {
      mode: 'observe',
      objective: { metric: 'ttft_ms', direction: 'minimize' },
      slos: [{ metric: 'ttft_ms', threshold: 250 }],
      reliability: { max_error_rate: 0.01 },
      promotion: { approvals_required: 2 },
    };
    const current = await put(body);
    // Turns the row into one of a release that knew none of these fields.
    const later = [
      'reliability,min_replicas',
      'reliability,spare_replicas',
      'reliability,right_size_after_seconds',
      'promotion,min_gain_percent',
      'promotion,outcome_window_seconds',
      'promotion,require_hosted_identity',
      'evidence',
      'experiment_budget',
    ];
    const stored = async () =>
      owned(api, 'select version, digest, content from optimization_policies order by version desc limit 1');
    await owned(api, `alter table optimization_policies disable trigger all`);
    for (const path of later) await owned(api, `update optimization_policies set content = content #- '{${path}}'`);
    await owned(api, `alter table optimization_policies enable trigger all`);
    const [row] = await stored();
    expect(row!['content']).toEqual({
      mode: 'observe',
      objective: body.objective,
      slos: [{ metric: 'ttft_ms', stat: 'p95', threshold: 250 }],
      reliability: { max_error_rate: 0.01, freeze_windows: [] },
      promotion: {
        approvals_required: 2,
        prevent_self_approval: true,
        max_step_percent: 25,
        cooldown_seconds: 86400,
        plan_ttl_seconds: 604800,
      },
    });

    expect(await read()).toEqual(current);
    const again = await api.answerTo((by) => put(body, { ifMatch: current.etag }, by));
    expect([again.status, again.body, again.headers.get('etag')]).toEqual([200, current, current.etag]);
    const rehearsed = await rehearse(body);
    expect([rehearsed.would, rehearsed.diff]).toEqual(['change nothing', []]);
    expect(await stored()).toEqual([row]);
  });

  it('refuses a PUT that was based on an older version', async () => {
    const current = await read();
    expect(await codeOf(put({ mode: 'off' }, { ifMatch: '"old"' }))).toBe('412 precondition_failed');
    expect(await read()).toEqual(current);
  });

  it('rehearses without writing', async () => {
    const before = await read();
    const answer = await rehearse({ mode: 'off' });
    expect(answer).toMatchObject({ valid: true, would: 'set version 4 of the policy of chat', steps: [] });
    expect(answer.diff).toContainEqual({ op: 'replace', path: '/mode', value: 'off' });
    expect((await refusalOf(rehearse({ mode: 'never' }))).status).toBe(422);
    expect(await read()).toEqual(before);
  });

  it('makes one version for each of fifty concurrent PUTs, without gaps', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => put({ evidence: { min_samples: 100 + n } })),
    );
    expect(answers.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, n) => n + 4),
    );
  });

  it.each<[string, string, object]>([
    ['mode', 'enum', { mode: 'automatic' }],
    ['workload.profile', 'enum', { workload: { profile: 'video' } }],
    ['workload.request_rate', 'min', { workload: { request_rate: -1 } }],
    ['workload.concurrency', 'min', { workload: { concurrency: 0 } }],
    ['workload.input_tokens.p95', 'min', { workload: { input_tokens: { p50: 10, p95: 9 } } }],
    ['workload.output_tokens.p95', 'min', { workload: { output_tokens: { p50: 10, p95: 9 } } }],
    ['objective.metric', 'enum', { objective: { metric: 'beauty', direction: 'maximize' } }],
    ['objective.direction', 'required', { objective: { metric: 'ttft_ms' } }],
    ['objective.direction', 'not_applicable', { objective: { metric: 'ttft_ms', direction: 'maximize' } }],
    ['objective.direction', 'not_applicable', { objective: { metric: 'output_tokens_per_s', direction: 'minimize' } }],
    ['objective.direction', 'not_applicable', { objective: { metric: 'cost_per_mtok', direction: 'maximize' } }],
    ['slos[0].metric', 'enum', { slos: [{ metric: 'cost_per_mtok', threshold: 1 }] }],
    ['slos[0].metric', 'enum', { slos: [{ metric: 'beauty', threshold: 1 }] }],
    ['slos[0].threshold', 'required', { slos: [{ metric: 'ttft_ms' }] }],
    ['slos[0].threshold', 'max', { slos: [{ metric: 'error_rate', threshold: 5 }] }],
    ['slos[0].stat', 'not_applicable', { slos: [{ metric: 'error_rate', stat: 'p95', threshold: 0.1 }] }],
    [
      'slos[1].stat',
      'not_applicable',
      {
        slos: [
          { metric: 'ttft_ms', threshold: 1 },
          { metric: 'itl_ms', stat: 'rate', threshold: 1 },
        ],
      },
    ],
    [
      'slos[1]',
      'unique',
      {
        slos: [
          { metric: 'ttft_ms', threshold: 1 },
          { metric: 'ttft_ms', stat: 'p95', threshold: 2 },
        ],
      },
    ],
    ['evidence.min_samples', 'min', { evidence: { min_samples: 0 } }],
    ['evidence.confidence', 'max', { evidence: { confidence: 1 } }],
    ['evidence.max_age_seconds', 'min', { evidence: { min_duration_seconds: 100, max_age_seconds: 99 } }],
    ['experiment_budget.max_gpu_hours', 'min', { experiment_budget: { max_gpu_hours: -1 } }],
    [
      'experiment_budget.max_cost.currency',
      'pattern',
      { experiment_budget: { max_cost: { amount: 1, currency: 'euro' } } },
    ],
    ['experiment_budget.max_cost.amount', 'required', { experiment_budget: { max_cost: { currency: 'EUR' } } }],
    ['experiment_budget.max_experiments', 'min', { experiment_budget: { max_experiments: -1 } }],
    ['experiment_budget.max_parallel', 'min', { experiment_budget: { max_parallel: 0 } }],
    ['experiment_budget.max_traffic_percent', 'max', { experiment_budget: { max_traffic_percent: 101 } }],
    ['experiment_budget.period', 'enum', { experiment_budget: { period: 'year' } }],
    [
      'experiment_budget.allowed_knobs[1]',
      'unknown',
      { experiment_budget: { allowed_knobs: ['scaling.min_replicas', 'weather.sun'] } },
    ],
    ['experiment_budget.allowed_knobs', 'unique', { experiment_budget: { allowed_knobs: ['a', 'a'] } }],
    ['reliability.max_error_rate', 'max', { reliability: { max_error_rate: 2 } }],
    ['reliability.min_availability_percent', 'max', { reliability: { min_availability_percent: 100.1 } }],
    ['reliability.min_replicas', 'min', { reliability: { min_replicas: 0 } }],
    ['reliability.spare_replicas', 'min', { reliability: { spare_replicas: -1 } }],
    ['reliability.right_size_after_seconds', 'min', { reliability: { right_size_after_seconds: 59 } }],
    ['reliability.right_size_after_seconds', 'max', { reliability: { right_size_after_seconds: 31_536_001 } }],
    [
      'reliability.freeze_windows[0].end',
      'order',
      { reliability: { freeze_windows: [{ start: '2026-01-02T00:00:00Z', end: '2026-01-01T00:00:00Z' }] } },
    ],
    [
      'reliability.freeze_windows[0].start',
      'format',
      { reliability: { freeze_windows: [{ start: '2026-02-30T00:00:00Z', end: '2026-03-01T00:00:00Z' }] } },
    ],
    ['promotion.approvals_required', 'min', { promotion: { approvals_required: 0 } }],
    ['promotion.max_step_percent', 'max', { promotion: { max_step_percent: 101 } }],
    ['promotion.cooldown_seconds', 'min', { promotion: { cooldown_seconds: -1 } }],
    ['promotion.min_gain_percent', 'max', { promotion: { min_gain_percent: 1001 } }],
    ['promotion.min_gain_percent', 'min', { promotion: { min_gain_percent: -1 } }],
    ['promotion.outcome_window_seconds', 'min', { promotion: { outcome_window_seconds: 59 } }],
    ['promotion.outcome_window_seconds', 'max', { promotion: { outcome_window_seconds: 604_801 } }],
    ['promotion.plan_ttl_seconds', 'min', { promotion: { plan_ttl_seconds: 0 } }],
  ])('refuses %s (%s)', async (field, code, body) => {
    const refused = await refusalOf(put(body));
    expect(refused).toMatchObject({ status: 422, code: 'validation_failed', details: [{ field, code }] });
  });

  it('refuses wrong types with 400 and warns of unknown fields', async () => {
    expect((await refusalOf(put({ slos: 'all' }))).status).toBe(400);
    expect((await refusalOf(put({ promotion: { approvals_required: '1' } }))).status).toBe(400);
    expect((await put({ evidence: { luck: 1 } }, { strict: false })).warnings).toEqual([
      { code: 'unknown_field', field: 'evidence.luck' },
    ]);
  });

  it('shows each version as it was in force, newest first', async () => {
    const name = 'versions';
    const { policy } = slipway.deployments;
    await slipway.deployments.create({ name });
    expect(await policy.versions(name)).toEqual({ data: [], next_cursor: null });
    const set: object[] = [];
    for (const mode of ['off', 'observe', 'recommend'] as const) set.unshift(await policy.set(name, { mode }));
    await policy.set(name, { mode: 'recommend' });
    expect((await policy.versions(name)).data).toEqual(set);
    const seen: number[] = [];
    for await (const { version } of policy.versions(name, { limit: 1 })) seen.push(version);
    expect(seen).toEqual([3, 2, 1]);
    expect(await policy.version(name, 1)).toEqual(set[2]);
    for (const unknown of ['4', '0', '01', '-1', 'latest', '9999999999'])
      expect(await codeOf(policy.version(name, unknown))).toBe('404 policy_version_not_found');
    const stranger = api.slipway((await api.createTenant('other')).token);
    expect(await codeOf(stranger.deployments.policy.version(name, 1))).toBe('404 deployment_not_found');
    expect(await codeOf(stranger.deployments.policy.versions(name))).toBe('404 deployment_not_found');
  });

  it('can be set by admins, read by viewers, and is hidden from other tenants', async () => {
    const [viewer, operator] = [await api.createToken('viewer'), await api.createToken('operator')];
    expect(await codeOf(put({}, {}, api.slipway(operator)))).toBe('403 scope_insufficient');
    expect(await read(api.slipway(viewer))).toEqual(await read());
    const stranger = api.slipway((await api.createTenant('stranger')).token);
    expect(await codeOf(read(stranger))).toBe('404 deployment_not_found');
    expect(await codeOf(put({}, {}, stranger))).toBe('404 deployment_not_found');
  });
});

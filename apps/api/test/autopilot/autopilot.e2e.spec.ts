import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf } from '@slipway/platform-database';
import { activateNewest, activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import type { AnswerOf, BodyOf, OptionsOf, Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { everyRow } from '../harness/every-row.js';
import { codeOf, isRefused, refusalOf } from '../harness/refusals.js';

type Plan = AnswerOf<'getAutopilotPlan'>;

const TWO_REPLICAS = {
  op: 'replace' as const,
  path: '/scaling/min_replicas',
  from: 1,
  value: 2,
  rationale: 'p95 is above its limit',
};
const EVIDENCE = {
  kind: 'benchmark',
  tool: 'guidellm',
  metric: 'ttft_ms',
  stat: 'p95',
  baseline: { value: 300, n: 500 },
  candidate: { value: 180, n: 500 },
  delta_percent: -40,
};

let api: TestApi;
let slipway: Slipway;
let author: Slipway;
let people: string[];
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
  const [alice, ...others] = await Promise.all(['alice', 'bob', 'carol'].map(api.createPerson));
  [author, people] = [api.slipway(alice), others];
});

afterAll(async () => {
  await api?.close();
});

beforeEach(async () => {
  count += 1;
  chat = await activeDeployment(api, `chat-${count}`);
});

const policy = (body: BodyOf<'setContinualOptimizationPolicy'>) => slipway.deployments.policy.set(chat.name, body);

/** @param body may break the types, so that the api refuses it */
const create = (body: object, by = slipway) =>
  by.autopilot.plans.create({
    deployment: chat.name,
    changes: [TWO_REPLICAS],
    ...body,
  } as BodyOf<'createAutopilotPlan'>);

const plan = (body: object = {}): Promise<any> => create({ evidence: [EVIDENCE], ...body }, author);

type PlanReference = Pick<Plan, 'id' | 'content_digest'>;

function approve(one: PlanReference, options: { person?: Slipway; body?: object; key?: string } = {}): Promise<Plan> {
  const { person = api.slipway(people[0]), body, key } = options;
  const approval = { plan_digest: one.content_digest, ...body };
  return person.autopilot.plans.approve(one.id, approval, key === undefined ? {} : { idempotencyKey: key });
}

const rollOut = (body: object) => slipway.deployments.rollouts.create(chat.name, body as BodyOf<'createRollout'>);
const read = (one: { id: string }): Promise<any> => slipway.autopilot.plans.get(one.id);
const eventsOf = async (
  type: `plan.${'created' | 'approved' | 'rejected' | 'expired' | 'superseded'}`,
): Promise<any[]> => (await slipway.deployments.events.list(chat.name, { type })).data;

describe('creating a plan', () => {
  it('freezes it: digest, base, policy version, and a rollout that is ready to send', async () => {
    await policy({ promotion: { plan_ttl_seconds: 60 } });
    const answer = await api.answerTo((by) => create({ evidence: [EVIDENCE], summary: 'More replicas' }, by));
    const made: any = answer.body;
    expect(answer.status).toBe(201);
    expect(made).toMatchObject({
      deployment: chat.name,
      policy_version: 1,
      base_revision: `${chat.name}-00001`,
      stale: false,
      summary: 'More replicas',
      changes: [TWO_REPLICAS],
      rollout: {
        spec_patch: { scaling: { min_replicas: 2 } },
        base_revision: `${chat.name}-00001`,
        strategy: { type: 'candidate' },
        plan_id: made.id,
      },
      approval: { state: 'pending', approvals: [], approvals_required: 1, ended: null, version: 0 },
      kind: 'manual',
      assumes: null,
      risk: { level: 'low', reasons: [] },
    });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(60_000);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({ location: `/api/v1/autopilot/plans/${made.id}`, etag: made.etag });
    const { content_digest: digest, approval: _a, stale: _s, etag: _e, outcomes, assumptions_hold, ...frozen } = made;
    expect([outcomes, assumptions_hold]).toEqual([[], null]);
    expect(digestOf(frozen)).toBe(digest);
    expect((await eventsOf('plan.created')).map((event) => event.data.content_digest)).toEqual([digest]);
    await expect(owned(api, `update autopilot_plans set expires_at = now()`)).rejects.toThrow('never changes');
  });

  it('keeps whatever its author predicts', async () => {
    const predicted_impact = { metrics: 'much faster', cost: { now: -1 }, own: [1, null] };
    expect((await plan({ predicted_impact })).predicted_impact).toEqual(predicted_impact);
  });

  it('derives the changes from a rollout, and uses the strategy of the deployment', async () => {
    chat = await activeDeployment(api, `with-strategy-${count}`, { body: { default_strategy: { type: 'immediate' } } });
    const made = await plan({ changes: [], rollout: { spec_patch: { runtime: { args: { ttft_ms: 5 } } } } });
    expect(made.changes).toEqual([
      { op: 'replace', path: '/runtime/args/ttft_ms', from: 20, value: 5, rationale: null },
    ]);
    expect(made.rollout.strategy).toEqual({ type: 'immediate' });
    expect(made.risk).toEqual({ level: 'medium', reasons: ['immediate moves all traffic in one step'] });
  });

  it('gives a canary without steps the steps that the policy allows, and refuses other steps', async () => {
    await policy({});
    const made = await plan({
      rollout: { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'canary' } },
    });
    expect(made.rollout.strategy.steps.map((step: any) => step.traffic_percent)).toEqual([5, 30, 55, 80, 100]);
    const steps = [{ traffic_percent: 20 }, { traffic_percent: 100 }];
    const rollout = { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'canary', steps } };
    expect((await refusalOf(create({ rollout }))).details).toMatchObject([
      { field: 'rollout.strategy.steps[1].traffic_percent', code: 'max' },
    ]);
  });

  it('shows how it will be rolled out: strategy, steps, gate and target, with the defaults of the deployment', async () => {
    const default_analysis = {
      metrics: [{ name: 'error_rate' as const, check: 'threshold' as const, threshold: 0.1 }],
    };
    chat = await activeDeployment(api, `shown-${count}`, {
      body: { default_strategy: { type: 'immediate' }, default_analysis },
    });
    expect((await plan()).execution).toEqual({
      strategy: { type: 'immediate', steps: [] },
      analysis: null,
      target: 'local',
      is_gated: false,
    });
    const rollout = { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'canary' } };
    const byDefault = (await plan({ rollout })).execution;
    expect(byDefault).toMatchObject({
      analysis: { source: 'deployment', metrics: [{ name: 'error_rate', threshold: 0.1 }], on_failure: 'rollback' },
      is_gated: true,
    });
    expect(byDefault.strategy.steps.map((step: any) => step.traffic_percent)).toEqual([5, 25, 50, 100]);
    const own = (await plan({ rollout: { ...rollout, analysis: { ...default_analysis, on_failure: 'pause' } } }))
      .execution;
    expect(own.analysis).toMatchObject({ source: 'rollout', on_failure: 'pause' });
    const unjudged = (await plan({ rollout: { ...rollout, analysis: 'none' } })).execution;
    expect([unjudged.analysis, unjudged.is_gated]).toEqual([null, false]);
  });

  it('names the tokens behind it, and behind the operation and the revision that execute it', async () => {
    const tokenOf = (name: string, id: string) =>
      slipway.tokens.create({ name, scopes: ['operator'], owner: { type: 'person', id } });
    const [maker, approver] = [await tokenOf('laptop of Dora', 'dora'), await tokenOf('laptop of Emil', 'emil')];
    const made = await create({}, api.slipway(maker.token!));
    expect(made.created_by).toMatchObject({ type: 'token', id: maker.id, name: 'laptop of Dora' });
    const approved = await approve(made, { person: api.slipway(approver.token!) });
    const by = { type: 'token', id: approver.id, name: 'laptop of Emil', owner: { type: 'person', id: 'emil' } };
    expect(approved.approval.approvals.map((one) => one.by)).toEqual([by]);
    const [listed] = (await slipway.autopilot.plans.list({ deployment: chat.name })).data;
    expect(listed).toEqual(approved);
    const { operation } = await api.slipway(maker.token!).deployments.rollouts.create(chat.name, { plan_id: made.id });
    const named = { type: 'token', id: maker.id, name: 'laptop of Dora' };
    expect(operation.requested_by).toEqual(named);
    expect((await slipway.deployments.revisions.get(chat.name, '2')).created_by).toEqual(named);
  });

  it('warns the approver if the evidence is thinner or older than the policy requires', async () => {
    await policy({ evidence: { min_samples: 1000, min_duration_seconds: 1, max_age_seconds: 3600 } });
    const made = await plan({
      evidence: [{ ...EVIDENCE, collected_at: '2020-01-01T00:00:00Z' }],
      risk: { level: 'high', reasons: ['mine'] },
    });
    expect(made.risk).toEqual({
      level: 'high',
      reasons: [
        'mine',
        'evidence[0] has fewer than the 1000 samples that the policy requires',
        'evidence[0] is older than the 3600 s that the policy allows',
      ],
    });
  });

  it.each<[string, string, object]>([
    ['deployment', 'required', { deployment: undefined }],
    ['changes', 'required', { changes: [] }],
    ['changes[0].from', 'differs', { changes: [{ ...TWO_REPLICAS, from: 7 }] }],
    ['changes[0].path', 'missing', { changes: [{ op: 'replace', path: '/runtime/args/none', value: 1 }] }],
    ['changes[0].path', 'missing', { changes: [{ op: 'add', path: '/model/id/x', value: 1 }] }],
    ['changes[0].path', 'invalid', { changes: [{ op: 'add', path: '/__proto__/x', value: 1 }] }],
    ['changes[0].value', 'required', { changes: [{ op: 'replace', path: '/model/id' }] }],
    [
      'rollout.spec_patch.runtime.engine',
      'unknown',
      { changes: [{ op: 'replace', path: '/runtime/engine', value: 'none' }] },
    ],
    ['rollout', 'differs', { rollout: { spec_patch: { scaling: { min_replicas: 3 } } } }],
    ['rollout.strategy.type', 'enum', { rollout: { spec_patch: {}, strategy: { type: 'fast' } } }],
    [
      'rollout.spec_patch.scaling.min_replicas',
      'min',
      { changes: [], rollout: { spec_patch: { scaling: { min_replicas: -1 } } } },
    ],
    ['evidence[0].kind', 'enum', { evidence: [{ kind: 'rumour', metric: 'x' }] }],
    ['risk.level', 'enum', { risk: { level: 'none' } }],
  ])('refuses %s (%s)', async (field, code, body) => {
    const refused = await refusalOf(create(body));
    expect(refused).toMatchObject({
      code: 'validation_failed',
      details: expect.arrayContaining([expect.objectContaining({ field })]),
    });
    expect(code === 'unknown' || refused.details[0]!.code === code).toBe(true);
  });

  it('respects the knobs that the policy allows', async () => {
    await policy({ experiment_budget: { allowed_knobs: ['runtime.args', '/model/quantization'] } });
    const changes = [{ op: 'replace', path: '/runtime/args/ttft_ms', value: 1 }, TWO_REPLICAS];
    expect((await refusalOf(create({ changes }))).details).toMatchObject([
      { field: 'changes[1].path', code: 'not_allowed' },
    ]);
    await plan({ changes: [{ op: 'replace', path: 'runtime.args.ttft_ms', value: 1 }] });
  });

  it('accepts only the active revision as its base, and shows another tenant neither', async () => {
    expect(await codeOf(create({ base_revision: '9' }))).toBe('404 revision_not_found');
    expect(await codeOf(create({ base_spec_digest: 'x' }))).toBe('409 plan_stale');
    expect(await codeOf(create({ deployment: 'none' }))).toBe('404 deployment_not_found');
    const stranger = api.slipway((await api.createTenant(`stranger-${count}`)).token);
    expect(await codeOf(create({}, stranger))).toBe('404 deployment_not_found');
    await rollOut({ spec_patch: { scaling: { min_replicas: 4 } } });
    expect(await codeOf(create({ base_revision: '2' }))).toBe('409 plan_stale');
    await slipway.deployments.create({ name: `empty-${count}` });
    expect(await codeOf(create({ deployment: `empty-${count}` }))).toBe('422 validation_failed');
  });
});

describe('reading plans', () => {
  it('answers 304 until the plan changes', async () => {
    const made = await plan();
    const readUnless = (etag: string) => slipway.autopilot.plans.get(made.id, { headers: { 'if-none-match': etag } });
    // The client reports an answer without a body as an unexpected answer.
    await expect(readUnless(made.etag)).rejects.toMatchObject({ status: 304 });
    const approved = await approve(made);
    expect(approved.etag).not.toBe(made.etag);
    expect((await readUnless(made.etag)).etag).toBe(approved.etag);
    await expect(readUnless(approved.etag)).rejects.toMatchObject({ status: 304 });
    await rollOut({ spec_patch: { scaling: { min_replicas: 3 } } });
    await activateNewest(api, chat.id);
    expect(await readUnless(approved.etag)).toMatchObject({ stale: true, approval: { state: 'approved' } });
  });

  it('lists plans newest first, by deployment and state, in pages', async () => {
    const made = [await plan(), await plan(), await plan()];
    await approve(made[1]);
    await slipway.autopilot.plans.reject(made[2].id, { comment: 'no' });
    const list = (query: OptionsOf<'listAutopilotPlans'> = {}) =>
      slipway.autopilot.plans.list({ deployment: chat.name, ...query });
    expect((await list()).data.map(({ approval }) => approval.state)).toEqual(['rejected', 'approved', 'pending']);
    expect((await list({ state: 'approved' })).data.map(({ id }) => id)).toEqual([made[1].id]);
    const first = await list({ limit: 2 });
    expect(first.data).toHaveLength(2);
    const { data: rest } = await list({ limit: 2, cursor: first.next_cursor! });
    expect(rest.map(({ id }) => id)).toEqual([made[0].id]);
    expect((await refusalOf(list({ state: 'odd' as 'pending' }))).status).toBe(422);
  });
});

describe('approving', () => {
  it('writes the approval, its event and its audit row, and nothing else', async () => {
    const made = await plan({
      rollout: { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'immediate' } },
    });
    const written = [
      'autopilot_plan_decisions',
      'events',
      'event_streams',
      'audit_log',
      'audit_heads',
      'audit_reads',
      'idempotency_keys',
      'stored_changes',
      'stored_totals',
    ];
    const counts = async () =>
      (
        await owned(
          api,
          `select (select count(*) from autopilot_plan_decisions)::int decisions, (select count(*) from events)::int events,
      (select count(*) from audit_log where reads is null)::int audits, (select count(*) from outbox)::int outbox, (select count(*) from operations)::int operations`,
        )
      )[0];
    const [rows, before] = [await everyRow(api, written), await counts()];
    expect(Object.keys(rows)).toEqual(
      expect.arrayContaining([
        'autopilot_plans',
        'dataplane_routes',
        'deployments',
        'operations',
        'outbox',
        'revisions',
        'routes',
        'traffic_owner',
      ]),
    );
    const approved = await approve(made, { body: { comment: 'go' }, key: 'once' });
    expect(approved.approval).toMatchObject({
      state: 'approved',
      version: 1,
      approvals: [{ by: { type: 'token' }, comment: 'go', digest: made.content_digest }],
    });
    expect(await everyRow(api, written)).toEqual(rows);
    expect(await counts()).toEqual({
      ...before,
      decisions: before!['decisions'] + 1,
      events: before!['events'] + 1,
      audits: before!['audits'] + 1,
    });
    expect((await eventsOf('plan.approved')).map((event) => event.data)).toMatchObject([
      { plan_id: made.id, state: 'approved', approvals: 1 },
    ]);
    expect(
      await owned(api, `select 1 from audit_log where action = 'plan.approve' and resource_name = $1`, [made.id]),
    ).toHaveLength(1);
  });

  it('has one effect for fifty requests with one key, which all get the same answer', async () => {
    const made = await plan();
    // A header marks a replay.
    const byKey = () => api.answerTo((person) => approve(made, { person, key: 'fifty' }), people[0]);
    const answers = await Promise.all(Array.from({ length: 50 }, byKey));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(49);
    expect(new Set(answers.map((answer) => digestOf(answer.body))).size).toBe(1);
    expect(await owned(api, 'select 1 from autopilot_plan_decisions where plan_id = $1', [made.id])).toHaveLength(1);
    expect(await eventsOf('plan.approved')).toHaveLength(1);
    const reused = approve(made, { key: 'fifty', body: { comment: 'other' } });
    expect(await codeOf(reused)).toBe('422 idempotency_key_reused');
  });

  it('replays the original answer even after later changes', async () => {
    await policy({ promotion: { approvals_required: 2 } });
    const made = await plan();
    const first = await approve(made, { key: 'first' });
    expect(first.approval).toMatchObject({ state: 'pending', approvals_required: 2 });
    await approve(made, { person: api.slipway(people[1]) });
    expect(await approve(made, { key: 'first' })).toEqual(first);
  });

  it('needs as many distinct people as the policy requires, at once or one after the other', async () => {
    await policy({ promotion: { approvals_required: 2 } });
    const made = await plan();
    const twice = await Promise.all([approve(made), approve(made), approve(made)]);
    expect(twice.map(({ approval }) => approval.state)).toEqual(['pending', 'pending', 'pending']);
    const second = api.slipway(people[1]);
    expect((await approve(made, { person: second })).approval).toMatchObject({ state: 'approved', version: 2 });
    const [one, other] = [await plan(), await plan()];
    await Promise.all([
      approve(one),
      approve(other, { person: second }),
      approve(one, { person: second }),
      approve(other),
    ]);
    for (const each of [one, other])
      expect((await read(each)).approval).toMatchObject({ state: 'approved', version: 2 });
  });

  it('is not for the creator, unless the policy allows that', async () => {
    expect(await codeOf(approve(await plan(), { person: author }))).toBe('403 self_approval_forbidden');
    await policy({ promotion: { prevent_self_approval: false } });
    expect((await approve(await plan(), { person: author })).approval.state).toBe('approved');
  });

  it('is bound to the digest, happens once, and stores no key if it is refused', async () => {
    const made = await plan();
    const mistaken = approve(made, { body: { plan_digest: 'other' }, key: 'k' });
    expect(await codeOf(mistaken)).toBe('409 plan_digest_mismatch');
    const without = { body: { plan_digest: undefined } };
    expect(await codeOf(approve(made, without))).toBe('422 validation_failed');
    expect(await codeOf(approve({ ...made, id: 'none' }, without))).toBe('404 plan_not_found');
    expect((await approve(made, { key: 'k' })).approval.state).toBe('approved');
    expect(await codeOf(approve(made))).toBe('409 plan_already_decided');
    expect(await codeOf(slipway.autopilot.plans.reject(made.id))).toBe('409 plan_already_decided');
  });

  it('has a counterpart that is bound to the digest as well: a rejection applies to the plan that was read', async () => {
    const [one, other] = [
      await plan(),
      await plan({ changes: [{ ...TWO_REPLICAS, value: 3 }], summary: 'another plan' }),
    ];
    const reject = (body: BodyOf<'rejectAutopilotPlan'>) => api.slipway(people[0]).autopilot.plans.reject(one.id, body);
    expect(await refusalOf(reject({ plan_digest: other.content_digest }))).toMatchObject({
      status: 409,
      code: 'plan_digest_mismatch',
      message: expect.stringContaining(one.content_digest),
    });
    expect((await read(one)).approval).toMatchObject({ state: 'pending', version: 0 });
    const traces = async () => [
      await owned(api, `select 1 from audit_log where action = 'plan.reject' and resource_name = $1`, [one.id]),
      await eventsOf('plan.rejected'),
    ];
    expect((await traces()).map((rows) => rows.length)).toEqual([0, 0]);
    expect((await reject({ plan_digest: one.content_digest })).approval.state).toBe('rejected');
    expect((await traces()).map((rows) => rows.length)).toEqual([1, 1]);
    expect((await read(other)).approval.state).toBe('pending');
  });

  it('is refused for a rejected, an expired and a stale plan', async () => {
    const rejected = await plan();
    const { approval } = await slipway.autopilot.plans.reject(rejected.id, { comment: 'no' });
    expect(approval).toMatchObject({ state: 'rejected', ended: { comment: 'no' } });
    expect(await codeOf(approve(rejected))).toBe('409 plan_already_decided');
    const stale = await plan();
    await rollOut({ spec_patch: { scaling: { min_replicas: 3 } } });
    await activateNewest(api, chat.id);
    expect(await codeOf(approve(stale))).toBe('409 plan_stale');
    await policy({ promotion: { plan_ttl_seconds: 1 } });
    const expired = await plan({ changes: [{ ...TWO_REPLICAS, from: 3 }] });
    await until(async () => (await read(expired)).approval.state === 'expired');
    expect(await codeOf(approve(expired))).toBe('409 plan_expired');
  });
});

describe('a plan from before plans had a kind', () => {
  it('keeps its content and its digest, and can be approved and executed', async () => {
    const { content_digest: _d, approval: _a, stale: _s, etag: _e, kind: _k, assumes: _p, ...frozen } = await plan();
    const id = `plan_old_${count}`;
    const content = { ...frozen, id, rollout: { ...frozen.rollout, plan_id: id } };
    const digest = digestOf(content);
    await owned(
      api,
      `insert into autopilot_plans (id, tenant_id, deployment_id, deployment_name, base_revision_id, spec_digest, content, content_digest,
         approvals_required, prevent_self_approval, require_hosted_identity, created_by, creator_owner, creator_minters, created_at, expires_at)
       select $1, tenant_id, deployment_id, deployment_name, base_revision_id, spec_digest, $2, $3,
         approvals_required, prevent_self_approval, require_hosted_identity, created_by, creator_owner, creator_minters, created_at, expires_at
       from autopilot_plans where id = $4`,
      [id, JSON.stringify(content), digest, frozen.id],
    );
    const { approval, stale, etag, content_digest, ...shown } = await read({ id });
    expect([content_digest, digestOf(shown)]).toEqual([digest, digest]);
    expect(shown).not.toHaveProperty('kind');
    expect(shown).not.toHaveProperty('assumes');
    expect([approval.state, stale, etag]).toEqual(['pending', false, `"${digest}.0"`]);
    await approve({ id, content_digest });
    await rollOut({ plan_id: id });
    expect(await slipway.deployments.revisions.get(chat.name, '2')).toMatchObject({ source: { plan_id: id } });
  });
});

describe('executing', () => {
  it("accepts the unchanged rollout of the plan, or just the plan's id", async () => {
    for (const bodyOf of [
      (one: any) => one.rollout,
      (one: any) => ({ plan_id: one.id }),
      (one: any) => ({ plan_id: one.id, spec_patch: { scaling: { min_replicas: 2 } } }),
    ]) {
      chat = await activeDeployment(api, `executed-${(count += 1)}`);
      const made = await plan();
      await approve(made);
      await rollOut(bodyOf(made));
      expect(await slipway.deployments.revisions.get(chat.name, '2')).toMatchObject({
        source: { kind: 'plan', plan_id: made.id, base_revision: `${chat.name}-00001` },
        spec: { scaling: { min_replicas: 2 } },
      });
    }
  });

  it('is refused unless the plan is approved, unexpired, fresh, unchanged and of this deployment', async () => {
    const made = await plan();
    expect(await codeOf(rollOut({ plan_id: made.id }))).toBe('409 plan_not_approved');
    await approve(made);
    for (const change of [{ spec_patch: { scaling: { min_replicas: 3 } } }, { strategy: { type: 'immediate' } }])
      expect(await codeOf(rollOut({ plan_id: made.id, ...change }))).toBe('409 plan_digest_mismatch');
    expect(await codeOf(rollOut({ plan_id: 'none', spec_patch: {} }))).toBe('404 plan_not_found');
    const other = await activeDeployment(api, `other-${count}`);
    const elsewhere = slipway.deployments.rollouts.create(other.name, { plan_id: made.id });
    expect(await codeOf(elsewhere)).toBe('404 plan_not_found');
    expect(await owned(api, `select 1 from revisions where deployment_id = $1`, [chat.id])).toHaveLength(1);
    await rollOut({ spec_patch: { scaling: { min_replicas: 7 } } });
    await activateNewest(api, chat.id);
    expect(await codeOf(rollOut({ plan_id: made.id }))).toBe('409 plan_stale');
    await policy({ promotion: { plan_ttl_seconds: 1 } });
    const brief = await plan({ changes: [{ ...TWO_REPLICAS, from: 7 }] });
    await approve(brief);
    const rehearse = () => slipway.deployments.rollouts.rehearse(chat.name, { plan_id: brief.id });
    await until(() => isRefused(rehearse(), 'plan_expired'));
    expect(await codeOf(rollOut({ plan_id: brief.id }))).toBe('409 plan_expired');
  });

  it('executes nothing from a row that was tampered with', async () => {
    const made = await plan();
    await approve(made);
    await owned(api, `alter table autopilot_plans disable trigger immutable`);
    await owned(api, `update autopilot_plans set content = jsonb_set(content, '{summary}', '"other"') where id = $1`, [
      made.id,
    ]);
    await owned(api, `alter table autopilot_plans enable trigger immutable`);
    expect(await codeOf(rollOut({ plan_id: made.id }))).toBe('409 plan_digest_mismatch');
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds())) if (Date.now() > deadline) throw new Error('it did not come true');
}

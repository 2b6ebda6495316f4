import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf } from '@slipway/platform-database';
import { activateNewest, activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import { bootApi, expectStatus, type Answer, type TestApi } from './boot-api.js';
import { everyRow } from './every-row.js';

const PLANS = '/api/v1/autopilot/plans';
const TWO_REPLICAS = {
  op: 'replace',
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
let author: string;
let people: string[];
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  api = await bootApi();
  [author, ...people] = (await Promise.all(['alice', 'bob', 'carol'].map(api.createPerson))) as [string, ...string[]];
});

afterAll(async () => {
  await api?.close();
});

beforeEach(async () => {
  count += 1;
  chat = await activeDeployment(api, `chat-${count}`);
});

function policy(body: unknown, deployment = chat.name): Promise<Answer> {
  return api.send('PUT', `/api/v1/deployments/${deployment}/continual-optimization/policy`, { body });
}

async function plan(body: object = {}): Promise<any> {
  return expectStatus(
    await api.send('POST', PLANS, {
      body: { deployment: chat.name, changes: [TWO_REPLICAS], evidence: [EVIDENCE], ...body },
      token: author,
    }),
    201,
  );
}

function approve(
  one: { id: string; content_digest: string },
  options: { person?: string; body?: object; key?: string } = {},
): Promise<Answer> {
  const body = { plan_digest: one.content_digest, ...options.body };
  return api.send('POST', `${PLANS}/${one.id}/approve`, {
    body,
    token: options.person ?? people[0],
    headers: options.key ? { 'idempotency-key': options.key } : {},
  });
}

const rollOut = (body: object): Promise<Answer> =>
  api.send('POST', `/api/v1/deployments/${chat.name}/rollouts`, { body });
const codeOf = (answer: Answer): string => `${answer.status} ${answer.body?.error?.code}`;
const eventsOf = async (type: string): Promise<any[]> =>
  (await api.send('GET', `/api/v1/deployments/${chat.name}/events?type=${type}`)).body.data;

describe('creating a plan', () => {
  it('freezes it: digest, base, policy version, a rollout that is ready to send', async () => {
    await policy({ promotion: { plan_ttl_seconds: 60 } });
    const answer = await api.send('POST', PLANS, {
      body: { deployment: chat.name, changes: [TWO_REPLICAS], evidence: [EVIDENCE], summary: 'More replicas' },
    });
    const made = expectStatus(answer, 201);
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
      risk: { level: 'low', reasons: [] },
    });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(60_000);
    expect(answer.headers).toMatchObject({ location: `${PLANS}/${made.id}`, etag: made.etag });
    const { content_digest: digest, approval: _a, stale: _s, etag: _e, ...frozen } = made;
    expect(digestOf(frozen)).toBe(digest);
    expect((await eventsOf('plan.created')).map((event) => event.data.content_digest)).toEqual([digest]);
    await expect(owned(api, `update autopilot_plans set expires_at = now()`)).rejects.toThrow('never changes');
  });

  it('derives the changes from a rollout, and takes the strategy of the deployment', async () => {
    chat = await activeDeployment(api, `with-strategy-${count}`, { body: { default_strategy: { type: 'immediate' } } });
    const made = await plan({ changes: [], rollout: { spec_patch: { runtime: { args: { ttft_ms: 5 } } } } });
    expect(made.changes).toEqual([
      { op: 'replace', path: '/runtime/args/ttft_ms', from: 20, value: 5, rationale: null },
    ]);
    expect(made.rollout.strategy).toEqual({ type: 'immediate' });
    expect(made.risk).toEqual({ level: 'medium', reasons: ['immediate moves all traffic in one step'] });
  });

  it('gives a canary without steps those that the policy allows, and refuses steps that it does not', async () => {
    await policy({});
    const made = await plan({
      rollout: { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'canary' } },
    });
    expect(made.rollout.strategy.steps.map((step: any) => step.traffic_percent)).toEqual([5, 30, 55, 80, 100]);
    const steps = [{ traffic_percent: 20 }, { traffic_percent: 100 }];
    const refused = await api.send('POST', PLANS, {
      body: {
        deployment: chat.name,
        changes: [TWO_REPLICAS],
        rollout: { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'canary', steps } },
      },
    });
    expect(refused.body.error.details).toMatchObject([
      { field: 'rollout.strategy.steps[1].traffic_percent', code: 'max' },
    ]);
  });

  it('tells the approver where the evidence is thinner or older than the policy asks', async () => {
    await policy({ evidence: { min_samples: 1000, min_duration_seconds: 1, max_age_seconds: 3600 } });
    const made = await plan({
      evidence: [{ ...EVIDENCE, collected_at: '2020-01-01T00:00:00Z' }],
      risk: { level: 'high', reasons: ['mine'] },
    });
    expect(made.risk).toEqual({
      level: 'high',
      reasons: [
        'mine',
        'evidence[0] has fewer than the 1000 samples the policy asks for',
        'evidence[0] is older than the 3600 s the policy allows',
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
    const answer = await api.send('POST', PLANS, { body: { deployment: chat.name, changes: [TWO_REPLICAS], ...body } });
    expect(answer.body.error).toMatchObject({
      code: 'validation_failed',
      details: expect.arrayContaining([expect.objectContaining({ field })]),
    });
    expect(code === 'unknown' || answer.body.error.details[0].code === code).toBe(true);
  });

  it('keeps to the knobs that the policy allows', async () => {
    await policy({ experiment_budget: { allowed_knobs: ['runtime.args', '/model/quantization'] } });
    const refused = await api.send('POST', PLANS, {
      body: {
        deployment: chat.name,
        changes: [{ op: 'replace', path: '/runtime/args/ttft_ms', value: 1 }, TWO_REPLICAS],
      },
    });
    expect(refused.body.error.details).toMatchObject([{ field: 'changes[1].path', code: 'not_allowed' }]);
    await plan({ changes: [{ op: 'replace', path: 'runtime.args.ttft_ms', value: 1 }] });
  });

  it('has the active revision as its base and nothing else; another tenant has neither', async () => {
    const create = (body: object, token?: string) =>
      api.send('POST', PLANS, {
        body: { deployment: chat.name, changes: [TWO_REPLICAS], ...body },
        ...(token && { token }),
      });
    expect(codeOf(await create({ base_revision: '9' }))).toBe('404 revision_not_found');
    expect(codeOf(await create({ base_spec_digest: 'x' }))).toBe('409 plan_stale');
    expect(codeOf(await create({ deployment: 'none' }))).toBe('404 deployment_not_found');
    expect(codeOf(await create({}, (await api.createTenant(`stranger-${count}`)).token))).toBe(
      '404 deployment_not_found',
    );
    await rollOut({ spec_patch: { scaling: { min_replicas: 4 } } });
    expect(codeOf(await create({ base_revision: '2' }))).toBe('409 plan_stale');
    expectStatus(await api.send('POST', '/api/v1/deployments', { body: { name: `empty-${count}` } }), 201);
    expect(codeOf(await create({ deployment: `empty-${count}` }))).toBe('422 validation_failed');
  });
});

describe('reading plans', () => {
  it('answers 304 until something about the plan changes', async () => {
    const made = await plan();
    const read = (etag: string) => api.send('GET', `${PLANS}/${made.id}`, { headers: { 'if-none-match': etag } });
    expect(await read(made.etag)).toMatchObject({ status: 304, text: '' });
    const approved = expectStatus(await approve(made), 200);
    expect(approved.etag).not.toBe(made.etag);
    expect((await read(made.etag)).status).toBe(200);
    expect((await read(approved.etag)).status).toBe(304);
    await rollOut({ spec_patch: { scaling: { min_replicas: 3 } } });
    await activateNewest(api, chat.id);
    expect((await read(approved.etag)).body).toMatchObject({ stale: true, approval: { state: 'approved' } });
  });

  it('lists newest first, by deployment and state, in pages', async () => {
    const made = [await plan(), await plan(), await plan()];
    expectStatus(await approve(made[1]), 200);
    expectStatus(await api.send('POST', `${PLANS}/${made[2].id}/reject`, { body: { comment: 'no' } }), 200);
    const list = async (query: string) =>
      expectStatus(await api.send('GET', `${PLANS}?deployment=${chat.name}${query}`), 200);
    expect((await list('')).data.map((one: any) => one.approval.state)).toEqual(['rejected', 'approved', 'pending']);
    expect((await list('&state=approved')).data.map((one: any) => one.id)).toEqual([made[1].id]);
    const first = await list('&limit=2');
    expect(first.data).toHaveLength(2);
    expect((await list(`&limit=2&cursor=${first.next_cursor}`)).data.map((one: any) => one.id)).toEqual([made[0].id]);
    expect((await api.send('GET', `${PLANS}?state=odd`)).status).toBe(422);
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
    const approved = expectStatus(await approve(made, { body: { comment: 'go' }, key: 'once' }), 200);
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
    const answers = await Promise.all(Array.from({ length: 50 }, () => approve(made, { key: 'fifty' })));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(49);
    expect(new Set(answers.map((answer) => digestOf(answer.body))).size).toBe(1);
    expect(await owned(api, 'select 1 from autopilot_plan_decisions where plan_id = $1', [made.id])).toHaveLength(1);
    expect(await eventsOf('plan.approved')).toHaveLength(1);
    expect(codeOf(await approve(made, { key: 'fifty', body: { comment: 'other' } }))).toBe(
      '422 idempotency_key_reused',
    );
  });

  it('replays the original answer even after more has happened', async () => {
    await policy({ promotion: { approvals_required: 2 } });
    const made = await plan();
    const first = expectStatus(await approve(made, { key: 'first' }), 200);
    expect(first.approval).toMatchObject({ state: 'pending', approvals_required: 2 });
    expectStatus(await approve(made, { person: people[1] }), 200);
    expect(expectStatus(await approve(made, { key: 'first' }), 200)).toEqual(first);
  });

  it('needs as many distinct people as the policy says, at once or one after the other', async () => {
    await policy({ promotion: { approvals_required: 2 } });
    const made = await plan();
    const twice = await Promise.all([approve(made), approve(made), approve(made)]);
    expect(twice.map((answer) => answer.body.approval.state)).toEqual(['pending', 'pending', 'pending']);
    expect(expectStatus(await approve(made, { person: people[1] }), 200).approval).toMatchObject({
      state: 'approved',
      version: 2,
    });
    const [one, other] = [await plan(), await plan()];
    await Promise.all([
      approve(one),
      approve(other, { person: people[1] }),
      approve(one, { person: people[1] }),
      approve(other),
    ]);
    for (const { id } of [one, other])
      expect((await api.send('GET', `${PLANS}/${id}`)).body.approval).toMatchObject({ state: 'approved', version: 2 });
  });

  it('is not for the creator, unless the policy lets it', async () => {
    expect(codeOf(await approve(await plan(), { person: author }))).toBe('403 self_approval_forbidden');
    await policy({ promotion: { prevent_self_approval: false } });
    expect((await approve(await plan(), { person: author })).status).toBe(200);
  });

  it('is bound to the digest, happens once, and stores no key where it is refused', async () => {
    const made = await plan();
    expect(codeOf(await approve(made, { body: { plan_digest: 'other' }, key: 'k' }))).toBe('409 plan_digest_mismatch');
    expect(codeOf(await api.send('POST', `${PLANS}/${made.id}/approve`, { body: {}, token: people[0] }))).toBe(
      '422 validation_failed',
    );
    expect(codeOf(await api.send('POST', `${PLANS}/none/approve`, { body: {}, token: people[0] }))).toBe(
      '404 plan_not_found',
    );
    expect((await approve(made, { key: 'k' })).status).toBe(200);
    expect(codeOf(await approve(made))).toBe('409 plan_already_decided');
    expect(codeOf(await api.send('POST', `${PLANS}/${made.id}/reject`, { body: {} }))).toBe('409 plan_already_decided');
  });

  it('has a counterpart that is bound to the digest as well: a rejection means the plan that was read', async () => {
    const [one, other] = [
      await plan(),
      await plan({ changes: [{ ...TWO_REPLICAS, value: 3 }], summary: 'another plan' }),
    ];
    const reject = (body: object) => api.send('POST', `${PLANS}/${one.id}/reject`, { body, token: people[0] });
    const mistaken = await reject({ plan_digest: other.content_digest });
    expect([codeOf(mistaken), mistaken.body.error.message]).toEqual([
      '409 plan_digest_mismatch',
      expect.stringContaining(one.content_digest),
    ]);
    expect((await api.send('GET', `${PLANS}/${one.id}`)).body.approval).toMatchObject({ state: 'pending', version: 0 });
    const traces = async () => [
      await owned(api, `select 1 from audit_log where action = 'plan.reject' and resource_name = $1`, [one.id]),
      await eventsOf('plan.rejected'),
    ];
    expect((await traces()).map((rows) => rows.length)).toEqual([0, 0]);
    expect(expectStatus(await reject({ plan_digest: one.content_digest }), 200).approval.state).toBe('rejected');
    expect((await traces()).map((rows) => rows.length)).toEqual([1, 1]);
    expect((await api.send('GET', `${PLANS}/${other.id}`)).body.approval.state).toBe('pending');
  });

  it('is refused for a rejected, an expired and a stale plan', async () => {
    const rejected = await plan();
    expect(
      expectStatus(await api.send('POST', `${PLANS}/${rejected.id}/reject`, { body: { comment: 'no' } }), 200).approval,
    ).toMatchObject({ state: 'rejected', ended: { comment: 'no' } });
    expect(codeOf(await approve(rejected))).toBe('409 plan_already_decided');
    const stale = await plan();
    await rollOut({ spec_patch: { scaling: { min_replicas: 3 } } });
    await activateNewest(api, chat.id);
    expect(codeOf(await approve(stale))).toBe('409 plan_stale');
    await policy({ promotion: { plan_ttl_seconds: 1 } });
    const expired = await plan({ changes: [{ ...TWO_REPLICAS, from: 3 }] });
    await until(async () => (await api.send('GET', `${PLANS}/${expired.id}`)).body.approval.state === 'expired');
    expect(codeOf(await approve(expired))).toBe('409 plan_expired');
  });
});

describe('executing', () => {
  it('takes the rollout of the plan as it stands, or just its id', async () => {
    for (const bodyOf of [
      (one: any) => one.rollout,
      (one: any) => ({ plan_id: one.id }),
      (one: any) => ({ plan_id: one.id, spec_patch: { scaling: { min_replicas: 2 } } }),
    ]) {
      chat = await activeDeployment(api, `executed-${(count += 1)}`);
      const made = await plan();
      expectStatus(await approve(made), 200);
      expectStatus(await rollOut(bodyOf(made)), 202);
      expect(expectStatus(await api.send('GET', `/api/v1/deployments/${chat.name}/revisions/2`), 200)).toMatchObject({
        source: { kind: 'plan', plan_id: made.id, base_revision: `${chat.name}-00001` },
        spec: { scaling: { min_replicas: 2 } },
      });
    }
  });

  it('is refused unless the plan is approved, unexpired, fresh and unchanged, and of this deployment', async () => {
    const made = await plan();
    expect(codeOf(await rollOut({ plan_id: made.id }))).toBe('409 plan_not_approved');
    expectStatus(await approve(made), 200);
    expect(codeOf(await rollOut({ plan_id: made.id, spec_patch: { scaling: { min_replicas: 3 } } }))).toBe(
      '409 plan_digest_mismatch',
    );
    expect(codeOf(await rollOut({ plan_id: made.id, strategy: { type: 'immediate' } }))).toBe(
      '409 plan_digest_mismatch',
    );
    expect(codeOf(await rollOut({ plan_id: 'none', spec_patch: {} }))).toBe('404 plan_not_found');
    const other = await activeDeployment(api, `other-${count}`);
    expect(
      codeOf(await api.send('POST', `/api/v1/deployments/${other.name}/rollouts`, { body: { plan_id: made.id } })),
    ).toBe('404 plan_not_found');
    expect(await owned(api, `select 1 from revisions where deployment_id = $1`, [chat.id])).toHaveLength(1);
    await rollOut({ spec_patch: { scaling: { min_replicas: 7 } } });
    await activateNewest(api, chat.id);
    expect(codeOf(await rollOut({ plan_id: made.id }))).toBe('409 plan_stale');
    await policy({ promotion: { plan_ttl_seconds: 1 } });
    const brief = await plan({ changes: [{ ...TWO_REPLICAS, from: 7 }] });
    expectStatus(await approve(brief), 200);
    await until(
      async () =>
        codeOf(
          await api.send('POST', `/api/v1/deployments/${chat.name}/rollouts?validate_only=true`, {
            body: { plan_id: brief.id },
          }),
        ) === '409 plan_expired',
    );
    expect(codeOf(await rollOut({ plan_id: brief.id }))).toBe('409 plan_expired');
  });

  it('executes nothing from a row that was tampered with', async () => {
    const made = await plan();
    expectStatus(await approve(made), 200);
    await owned(api, `alter table autopilot_plans disable trigger immutable`);
    await owned(api, `update autopilot_plans set content = jsonb_set(content, '{summary}', '"other"') where id = $1`, [
      made.id,
    ]);
    await owned(api, `alter table autopilot_plans enable trigger immutable`);
    expect(codeOf(await rollOut({ plan_id: made.id }))).toBe('409 plan_digest_mismatch');
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds())) if (Date.now() > deadline) throw new Error('it did not come true');
}

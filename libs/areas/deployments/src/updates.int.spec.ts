import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { runInRequest, type Scope } from '@slipway/platform-http';
import { beside, until } from '@slipway/platform-database/testing';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { testPrincipal, type AreaAnswer } from '@slipway/platform-durable/operations/testing';
import { DeploymentsBed } from '../test/deployments-bed.js';

const GATE = { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 0.1 }] };
const CANARY = { type: 'canary', steps: [{ traffic_percent: 50 }, { traffic_percent: 100 }] };
const labels = (from: number, to: number, value: string | null = 'v') =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`k${from + index}`, value]));

let bed: DeploymentsBed;
let port: DeploymentsPort;
let count = 0;
let name: string;
let before: any;

beforeAll(async () => {
  bed = await DeploymentsBed.start();
  port = bed.app.get(DEPLOYMENTS, { strict: false });
}, 60_000);
afterAll(() => bed?.stop());

beforeEach(async () => {
  name = `set-${(count += 1)}`;
  await create({ display_name: 'Chat', labels: { team: 'search', tier: 'gold' }, default_strategy: CANARY });
});

async function create(body: object): Promise<void> {
  const made = await bed.send('POST', '/deployments', { body: { name, ...body } });
  expect(made.status).toBe(201);
  before = made.body;
}

const get = async () => (await bed.send('GET', `/deployments/${name}`)).body;
const patch = (
  body: object,
  { headers, query = '', scope }: { headers?: Record<string, string>; query?: string; scope?: Scope } = {},
): Promise<AreaAnswer> => bed.send('PATCH', `/deployments/${name}${query}`, { body, headers, scope });
const codesOf = ({ status, body }: AreaAnswer) => [
  status,
  body.error.code,
  body.error.details?.map((issue: any) => `${issue.field} ${issue.code}`),
];
/** Actions in the audit log of a deployment, the last three, newest first. */
const actionsOf = async (deployment: string): Promise<string[]> => {
  const text = `select action from audit_log where resource_name = $1 order by at desc, id desc limit 3`;
  return (await bed.sql<{ action: string }>(text, [deployment])).map(({ action }) => action);
};
/** Counts of the rows that a mutation writes. */
const traces = () =>
  bed.database.read(
    'system',
    `select (select count(*) from events)::int as events, (select count(*) from audit_log)::int as audits,
      (select sum(version) from deployments)::int as versions`,
  );

describe('a patch of a deployment', () => {
  it('changes the fields it names, keeps the rest, and answers like GET', async () => {
    const answer = await patch({
      description: 'for people',
      environment: 'production',
      default_analysis: GATE,
      revision_history_limit: 3,
      protection: { deletion: true },
    });
    expect(answer.status).toBe(200);
    const { updated_at, etag, ...rest } = answer.body;
    expect(rest).toEqual({
      ...rest,
      id: before.id,
      name,
      display_name: 'Chat',
      description: 'for people',
      labels: { team: 'search', tier: 'gold' },
      environment: 'production',
      default_strategy: before.default_strategy,
      default_analysis: {
        metrics: [{ ...GATE.metrics[0], min_samples: 50, failure_limit: 0, dry_run: false }],
        on_failure: 'rollback',
        on_inconclusive: 'pause',
      },
      revision_history_limit: 3,
      protection: { deletion: true, rollouts: 'any' },
      state: 'creating',
      conditions: before.conditions,
    });
    expect(etag).not.toBe(before.etag);
    expect(answer.headers['etag']).toBe(etag);
    expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(await get()).toEqual(answer.body);
  });

  it('removes with null, merges labels key by key, and restores defaults', async () => {
    await patch({
      revision_history_limit: 3,
      description: 'x',
      default_analysis: GATE,
      protection: { deletion: true },
    });
    const answer = await patch({
      display_name: null,
      labels: { tier: null, team: 'ranking', cost: '7' },
      default_analysis: null,
      revision_history_limit: null,
      protection: null,
    });
    expect(answer.body).toMatchObject({
      display_name: null,
      description: 'x',
      labels: { team: 'ranking', cost: '7' },
      default_strategy: before.default_strategy,
      default_analysis: null,
      revision_history_limit: 10,
      protection: { deletion: false, rollouts: 'any' },
    });
    expect((await patch({ labels: null })).body.labels).toEqual({});
  });

  it('merges to any depth as in RFC 7386, and validates the result as a whole', async () => {
    const steps = await patch({ default_strategy: { steps: [{ traffic_percent: 100, soak_seconds: 5 }] } });
    expect(steps.body.default_strategy).toEqual({
      type: 'canary',
      steps: [{ traffic_percent: 100, soak_seconds: 5, requires_approval: false, pause: false }],
    });
    const kept = await patch({ default_strategy: { type: 'immediate' } });
    expect(codesOf(kept)).toEqual([422, 'validation_failed', ['default_strategy.steps not_applicable']]);
    expect(kept.body.error.remediation).toMatch(/null removes a field/);
    const gone = await patch({ default_strategy: { type: 'immediate', steps: null } });
    expect(gone.body.default_strategy).toEqual({ type: 'immediate' });
    expect(codesOf(await patch({ default_strategy: { type: null } }))).toEqual([
      422,
      'validation_failed',
      ['default_strategy.type required'],
    ]);
    expect((await patch({ default_strategy: null })).body.default_strategy).toBeNull();
    expect(codesOf(await patch({ default_analysis: { on_failure: 'pause' } }))).toEqual([
      422,
      'validation_failed',
      ['default_analysis.metrics required'],
    ]);
  });

  it('merges the bake of the default strategy field by field, and removes it with null', async () => {
    const metrics = [{ name: 'error_rate', check: 'threshold', threshold: 0.1 }];
    const bakeOf = async (bake: object | null) => {
      const { body } = await patch({ default_strategy: { bake } });
      return body.warnings ?? body.default_strategy.bake;
    };
    expect(await bakeOf({ seconds: 60, metrics })).toMatchObject({ seconds: 60, metrics });
    expect(await bakeOf({ seconds: 90 })).toMatchObject({ seconds: 90, metrics });
    expect(codesOf(await patch({ default_strategy: { bake: { metrics: null } } }))[1]).toBe('validation_failed');
    expect(await bakeOf(null)).toBeUndefined();
  });

  it('limits the labels of the merged result to 64', async () => {
    expect((await patch({ labels: labels(0, 62) })).status).toBe(200);
    expect(codesOf(await patch({ labels: { one: 'more' } }))).toEqual([
      422,
      'validation_failed',
      ['labels max_entries'],
    ]);
    const swapped = await patch({ labels: { ...labels(0, 62, null), team: null, tier: null, ...labels(100, 164) } });
    expect(Object.keys(swapped.body.labels)).toHaveLength(64);
  });

  it.each([
    [{ labels: { a: 7 } }, 400, 'invalid_parameter', ['labels.a type']],
    [{ labels: 'x' }, 400, 'invalid_parameter', ['labels type']],
    [{ labels: { ['k'.repeat(64)]: 'v' } }, 422, 'validation_failed', [`labels.${'k'.repeat(64)} too_long`]],
    [{ revision_history_limit: 0 }, 422, 'validation_failed', ['revision_history_limit min']],
    [{ protection: { rollouts: 'none' } }, 422, 'validation_failed', ['protection.rollouts enum']],
    [{ protection: { deletion: 'yes' } }, 400, 'invalid_parameter', ['protection.deletion type']],
    [{ default_analysis: { metrics: [null] } }, 400, 'invalid_parameter', ['default_analysis.metrics[0] type']],
  ])('refuses %j', async (body, status, code, details) => {
    expect(codesOf(await patch(body))).toEqual([status, code, details]);
    expect(await get()).toEqual(before);
  });

  it('refuses to change the name, but accepts the current one', async () => {
    const renamed = await patch({ name: 'other' });
    expect(codesOf(renamed)).toEqual([422, 'validation_failed', ['name immutable']]);
    expect(renamed.body.error.message).toMatch(/clients send its name as model/);
    expect(codesOf(await patch({ name: null }))).toEqual([422, 'validation_failed', ['name immutable']]);
    expect((await patch({ name, description: 'same' })).body).toMatchObject({ name, description: 'same' });
  });

  it('warns of unknown fields, null or not, at any depth', async () => {
    const { status, body } = await patch({ nmae: 1, colour: null, protection: { deletoin: true }, description: 'x' });
    expect([status, body.description, body.protection.deletion]).toEqual([200, 'x', false]);
    expect(body.warnings).toEqual([
      { code: 'unknown_field', field: 'colour' },
      { code: 'unknown_field', field: 'nmae', message: 'did you mean `name`?' },
      { code: 'unknown_field', field: 'protection.deletoin', message: 'did you mean `protection.deletion`?' },
    ]);
  });

  it('is also accepted as application/merge-patch+json, which no other method accepts', async () => {
    const type = { 'content-type': 'application/merge-patch+json' };
    expect((await patch({ description: 'x' }, { headers: type })).body.description).toBe('x');
    const posted = await bed.send('POST', '/deployments', { body: { name: `${name}-b` }, headers: type });
    expect([posted.status, posted.body.error.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('returns the same state and writes nothing if it is empty or changes nothing', async () => {
    const left = await traces();
    for (const body of [
      {},
      { display_name: 'Chat' },
      { labels: { tier: 'gold' } },
      { labels: { none: null } },
      before,
    ]) {
      const answer = await patch(body);
      expect([answer.status, answer.headers['etag']]).toEqual([200, before.etag]);
    }
    expect(await traces()).toEqual(left);
  });

  it('is refused with another ETag, and for an unknown deployment', async () => {
    await patch({ description: 'meanwhile' }, { headers: { 'if-match': before.etag } });
    const late = await patch({ description: 'late' }, { headers: { 'if-match': before.etag } });
    expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed']);
    expect((await get()).description).toBe('meanwhile');
    name = 'no-such';
    expect((await patch({ revision_history_limit: 0 })).body.error.code).toBe('deployment_not_found');
  });

  it('is rehearsed with every check, without writing anything', async () => {
    const left = await traces();
    const { body } = await patch({ description: 'x', labels: { tier: null } }, { query: '?validate_only=true' });
    expect(body).toEqual({
      valid: true,
      would: `update deployment ${name}`,
      steps: [],
      diff: expect.arrayContaining([
        { op: 'remove', path: '/labels/tier' },
        { op: 'replace', path: '/description', value: 'x' },
      ]),
    });
    expect((await patch({}, { query: '?validate_only=true' })).body.would).toBe('change nothing');
    expect((await patch({ name: 'other' }, { query: '?validate_only=true' })).status).toBe(422);
    expect([await traces(), await get()]).toEqual([left, before]);
  });

  it('overrides the scaling of revisions field by field, and validates the result as a whole', async () => {
    expect(before).toMatchObject({ scaling: null, effective_scaling: null, replicas: { desired: 0, ready: 0 } });
    const set = await patch({ scaling: { min_replicas: 0, max_replicas: 4, idle_seconds: 60 } });
    expect([set.status, set.body.scaling]).toEqual([200, { min_replicas: 0, max_replicas: 4, idle_seconds: 60 }]);
    const { data } = (await bed.send('GET', `/deployments/${name}/events?type=deployment.updated`)).body;
    expect(data[0].data.changes).toEqual([
      { op: 'replace', path: '/scaling', value: { min_replicas: 0, max_replicas: 4, idle_seconds: 60 } },
    ]);
    expect((await patch({ scaling: { idle_seconds: null, target_in_flight: 8 } })).body.scaling).toEqual({
      min_replicas: 0,
      max_replicas: 4,
      target_in_flight: 8,
    });
    expect(codesOf(await patch({ scaling: { min_replicas: 5 } }))).toEqual([
      422,
      'validation_failed',
      ['scaling.max_replicas min'],
    ]);
    const awake = await patch({ scaling: { min_replicas: 1, idle_seconds: 60 } });
    expect(codesOf(awake)).toEqual([422, 'validation_failed', ['scaling.idle_seconds not_allowed']]);
    expect(awake.body.error.message).toContain('requires min_replicas 0');
    expect(codesOf(await patch({ scaling: { target_in_flight: 0 } }))[2]).toEqual(['scaling.target_in_flight min']);
    expect((await get()).scaling).toMatchObject({ target_in_flight: 8 });
    expect(
      (await patch({ scaling: { min_replicas: null, max_replicas: null, target_in_flight: null } })).body.scaling,
    ).toBeNull();
    expect((await patch({ scaling: { min_replicas: 2 } })).body.scaling).toEqual({ min_replicas: 2 });
    expect((await patch({ scaling: null })).body.scaling).toBeNull();
  });

  it('appends an event with the changes, and an audit row', async () => {
    await patch({ labels: { tier: null }, environment: 'production' });
    const { data } = (await bed.send('GET', `/deployments/${name}/events?type=deployment.updated`)).body;
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      subject: `deployments/${name}`,
      actor: 'token:tok_1',
      data: { deployment_id: before.id, name },
    });
    expect(data[0].data.changes).toEqual(
      expect.arrayContaining([
        { op: 'remove', path: '/labels/tier' },
        { op: 'replace', path: '/environment', value: 'production' },
      ]),
    );
    const rows = await bed.database.read<any>(
      'system',
      `select action, before_digest <> after_digest as differs from audit_log where resource_name = $1 and action <> 'deployment.create'`,
      [name],
    );
    expect(rows).toEqual([{ action: 'deployment.update', differs: true }]);
  });

  it('waits for a concurrent patch, so that both changes survive', async () => {
    const waiting = async () => {
      const [row] = await bed.database.read<{ n: number }>(
        'system',
        `select count(distinct l.pid)::int as n from pg_locks l join pg_stat_activity a using (pid)
         where not l.granted and a.datname = current_database()`,
      );
      return row!.n;
    };
    let answers: Promise<AreaAnswer[]> | undefined;
    await bed.database.tx({ tenantId: 'ten_a' }, async (tx) => {
      await port.lock(tx, 'ten_a', name);
      answers = beside(() => Promise.all([patch({ labels: { a: '1' } }), patch({ labels: { b: '2' } })]));
      // One of them, in Postgres: the other one waits for it in the process.
      await beside(() => until('one waits', async () => (await waiting()) === 1));
    });
    expect((await answers!).map(({ status }) => status)).toEqual([200, 200]);
    expect((await get()).labels).toEqual({ team: 'search', tier: 'gold', a: '1', b: '2' });
  });

  it('does not change fields that belong to a running operation', async () => {
    await bed.database.tx('system', (tx) =>
      port.update(tx, before.id, { state: 'progressing', currentOperationId: 'op_1', candidateRevisionId: 'r2' }),
    );
    const running = await get();
    const { body } = await patch({ labels: { tier: 'silver' }, default_strategy: null });
    expect(body).toEqual({
      ...running,
      labels: { team: 'search', tier: 'silver' },
      default_strategy: null,
      etag: body.etag,
      updated_at: body.updated_at,
    });
    await bed.database.tx('system', (tx) =>
      port.update(tx, before.id, { state: 'active', currentOperationId: null, activeRevisionId: 'r2' }),
    );
    expect(await get()).toMatchObject({
      active_revision: 'name-of-r2',
      labels: { tier: 'silver' },
      default_strategy: null,
    });
  });

  it('is written in one transaction with other changes of the row', async () => {
    await bed.database.tx('system', async (tx) => {
      await port.lockById(tx, before.id);
      await port.configure(
        tx,
        before.id,
        {
          ...(await port.record(tx, 'ten_a', name)),
          revisionHistoryLimit: 2,
          protection: { deletion: true, rollouts: 'any' },
        },
        { type: 'token', id: 'tok_9' },
      );
      expect(await port.lockById(tx, before.id)).toMatchObject({
        revisionHistoryLimit: 2,
        protection: { deletion: true },
      });
    });
    expect(before.updated_by).toEqual(before.created_by);
    expect(await get()).toMatchObject({ created_by: before.created_by, updated_by: { type: 'token', id: 'tok_9' } });
    await patch({ description: 'anew' });
    expect((await get()).updated_by).toEqual({ type: 'token', id: 'tok_1' });
    await bed.database.tx('system', (tx) =>
      tx.query(`update deployments set updated_by = null where id = $1`, [before.id]),
    );
    expect((await get()).updated_by).toEqual(before.created_by);
  });
});

describe('protection', () => {
  it('is accepted by POST, and shown', async () => {
    name = `${name}-guarded`;
    await create({ protection: { rollouts: 'approved_plan' }, default_analysis: GATE });
    expect(before).toMatchObject({
      protection: { deletion: false, rollouts: 'approved_plan' },
      default_analysis: { on_failure: 'rollback' },
    });
    expect(await get()).toEqual(before);
  });

  it('prevents the deletion of a deployment, with an answer that names the field', async () => {
    await patch({ protection: { deletion: true } });
    const refused = await bed.send('DELETE', `/deployments/${name}`);
    expect(codesOf(refused)).toEqual([409, 'deployment_protected', ['protection.deletion protected']]);
    expect(refused.body.error.remediation).toContain('{"protection": {"deletion": false}}');
    expect((await get()).state).toBe('creating');
    await patch({ protection: { deletion: false } });
    expect((await bed.send('DELETE', `/deployments/${name}`)).status).toBe(202);
  });

  it('prevents the retry of a failed deletion', async () => {
    bed.neighbours.failOn = 'remove';
    const { operation } = (await bed.send('DELETE', `/deployments/${name}`)).body;
    const protecting = await patch({ protection: { deletion: true } });
    expect([protecting.status, protecting.body.error.code, protecting.body.error.operation_id]).toEqual([
      409,
      'operation_in_progress',
      operation.id,
    ]);
    expect((await bed.finish(operation.id)).status).toBe('failed');
    bed.neighbours.failOn = undefined;
    expect((await patch({ protection: { deletion: true } })).status).toBe(200);
    const again = bed.retry(operation.id);
    await expect(again).rejects.toMatchObject({ code: 'deployment_protected' });
    expect((await get()).protection.deletion).toBe(true);
  });

  it('lets only admins delete a deployment that accepts only plans, which counts as lowering it', async () => {
    await patch({ protection: { rollouts: 'approved_plan' } }, { scope: 'operator' });
    const refused = await bed.send('DELETE', `/deployments/${name}`, { scope: 'operator' });
    expect([refused.status, refused.body.error.code, refused.body.error.required_scope]).toEqual([
      403,
      'scope_insufficient',
      'admin',
    ]);
    expect(refused.body.error.message).toContain('protection.rollouts approved_plan');
    expect((await get()).state).toBe('creating');
    expect((await bed.send('DELETE', `/deployments/${name}`)).status).toBe(202);
    expect(await actionsOf(name)).toEqual(['deployment.delete', 'deployment.unprotect', 'deployment.update']);
  });

  it('lets operators delete a deployment without it, and records no unprotection', async () => {
    expect((await bed.send('DELETE', `/deployments/${name}`, { scope: 'operator' })).status).toBe(202);
    expect(await actionsOf(name)).toEqual(['deployment.delete', 'deployment.create']);
  });

  it('lets only admins retry the deletion of a deployment that accepts only plans since then', async () => {
    bed.neighbours.failOn = 'remove';
    const { operation } = (await bed.send('DELETE', `/deployments/${name}`)).body;
    await bed.finish(operation.id);
    bed.neighbours.failOn = undefined;
    await patch({ protection: { rollouts: 'approved_plan' } });
    const retryAs = (scope: Scope) =>
      runInRequest({ requestId: 'req_1', warnings: [], principal: testPrincipal('ten_a', scope) }, () =>
        bed.retry(operation.id),
      );
    await expect(retryAs('operator')).rejects.toMatchObject({ code: 'scope_insufficient' });
    await retryAs('admin');
    expect((await get()).state).toBe('deleting');
    const rows = await bed.sql(`select count(*)::int as n from audit_log where resource_name = $1 and action = $2`, [
      name,
      'deployment.unprotect',
    ]);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it.each([
    ['deletion', { deletion: true }, { deletion: false }],
    ['deletion', { deletion: true }, { deletion: null }],
    ['deletion', { deletion: true }, null],
    ['rollouts', { rollouts: 'approved_plan' }, { rollouts: 'any' }],
    ['rollouts', { deletion: false, rollouts: 'approved_plan' }, { deletion: true, rollouts: 'any' }],
  ])('is raised by operators and lowered only by admins: %s from %j by %j', async (field, raised, lowered) => {
    expect((await patch({ protection: raised }, { scope: 'operator' })).status).toBe(200);
    const refused = await patch({ protection: lowered }, { scope: 'operator' });
    expect([refused.status, refused.body.error.code, refused.body.error.required_scope]).toEqual([
      403,
      'scope_insufficient',
      'admin',
    ]);
    expect(refused.body.error.message).toBe(
      `Lowering protection.${field} requires the scope admin; raising it does not.`,
    );
    expect((await get()).protection).toMatchObject(raised);
    expect((await patch({ labels: { still: 'free' } }, { scope: 'operator' })).status).toBe(200);
    expect((await patch({ protection: lowered })).status).toBe(200);
    expect((await actionsOf(name)).slice(0, 2)).toEqual(['deployment.unprotect', 'deployment.update']);
  });
});

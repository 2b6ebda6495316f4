import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import type { RouteChange } from '@slipway/ports/routing';
import { RoutingBed } from '../test/routing-bed.js';

const ACTOR = { type: 'token', id: 'tok_1' };

let bed: RoutingBed;
let count = 0;
let deployment: Deployment;
let one: Revision;
let two: Revision;

beforeAll(async () => {
  bed = await RoutingBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  count += 1;
  deployment = bed.neighbours.addDeployment(`chat${count}`);
  one = bed.neighbours.addRevision(deployment, 1);
  two = bed.neighbours.addRevision(deployment, 2);
  bed.neighbours.activations.length = 0;
  bed.neighbours.onHold = undefined;
});

const put = (body: object, headers: Record<string, string> = {}, query = '') =>
  bed.send('PUT', `/deployments/${deployment.name}/route${query}`, { body, headers });
const get = (headers: Record<string, string> = {}) =>
  bed.send('GET', `/deployments/${deployment.name}/route`, { headers });
const split = (first: number, second: number) => ({
  targets: [
    { revision: one.name, weight: first },
    { revision: two.id, weight: second },
  ],
});
const code = (answer: { status: number; body: any }) => `${answer.status} ${answer.body.error?.code}`;
const audits = async () =>
  (await bed.database.read('system', 'select 1 from audit_log where resource_name = $1', [deployment.name])).length;
const events = () =>
  bed.database.read<{ sequence: number; type: string; actor: string; data: any }>(
    'system',
    `select sequence::int, type, actor, data from events where stream = $1 order by sequence`,
    [`deployment/${deployment.id}`],
  );

it('gives one revision all traffic, and writes route, activation, event and audit in one transaction', async () => {
  expect(code(await get())).toBe('404 route_not_found');
  const answer = await put({ revision: '1', reason: 'first' });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    deployment: deployment.name,
    generation: 1,
    targets: [{ revision: one.name, weight: 100 }],
    affinity: { mode: 'soft', ttl_seconds: 600 },
    hold: null,
    reason: 'first',
    etag: answer.headers['etag'],
    updated_by: ACTOR,
    updated_at: expect.any(String),
  });
  expect((await get()).body).toEqual(answer.body);
  expect(await bed.published(deployment.id)).toEqual({ generation: 1, slots: { [one.id]: 100 } });
  expect([...bed.neighbours.holdsOf(one.id)]).toEqual(['route']);
  expect(bed.neighbours.activations).toEqual([{ deploymentId: deployment.id, revisionId: one.id, operationId: null }]);
  expect(await events()).toMatchObject([
    {
      sequence: 1,
      type: 'route.updated',
      actor: 'token:tok_1',
      data: { generation: 1, targets: [{ revision: one.name, weight: 100 }], reason: 'first' },
    },
  ]);
  expect(
    await bed.database.read('system', `select action from audit_log where resource_name = $1`, [deployment.name]),
  ).toEqual([{ action: 'route.set' }]);
});

it('splits traffic without activating, and keeps revisions that leave warm for an hour', async () => {
  await put({ revision: one.name });
  const answer = await put({ ...split(70, 30), affinity: { mode: 'none', ttl_seconds: 60 } });
  expect(answer.body).toMatchObject({
    generation: 2,
    targets: [
      { revision: one.name, weight: 70 },
      { revision: two.name, weight: 30 },
    ],
    affinity: { mode: 'none', ttl_seconds: 60 },
  });
  expect(await bed.published(deployment.id)).toEqual({ generation: 2, slots: { [one.id]: 70, [two.id]: 30 } });
  expect(bed.neighbours.activations).toHaveLength(1);
  const last = await put({ revision: two.name });
  expect(last.body.affinity).toEqual({ mode: 'none', ttl_seconds: 60 });
  expect([...bed.neighbours.holdsOf(two.id)]).toEqual(['route']);
  expect([...bed.neighbours.holdsOf(one.id)]).toEqual(['warm 3600']);
  expect(bed.neighbours.activations.map((activation) => activation.revisionId)).toEqual([one.id, two.id]);
});

it('changes nothing if the current route is repeated', async () => {
  const first = await put(split(70, 30));
  // No revision has all traffic, so none is active.
  expect(bed.neighbours.activations).toEqual([]);
  const again = await put({ targets: [...split(70, 30).targets].reverse() });
  expect(again.body).toEqual(first.body);
  expect([(await events()).length, await audits()]).toEqual([1, 1]);
  expect((await bed.published(deployment.id))?.generation).toBe(1);
});

it('uses the default affinity if the whole route is given without one', async () => {
  await put({ ...split(70, 30), affinity: { mode: 'none', ttl_seconds: 60 } });
  const answer = await put(split(70, 30));
  expect(answer.body).toMatchObject({ generation: 2, affinity: { mode: 'soft', ttl_seconds: 600 } });
});

it('adds a dark revision to the route without starting it', async () => {
  const retired = bed.neighbours.addRevision(deployment, 3, 'retired');
  bed.neighbours.ready.delete(retired.id);
  const answer = await put({
    targets: [
      { revision: one.name, weight: 100 },
      { revision: retired.name, weight: 0 },
    ],
  });
  expect(answer.status).toBe(200);
  expect([...bed.neighbours.holdsOf(retired.id)]).toEqual([]);
  // All traffic for one revision is an activation, even if the route names others.
  expect(bed.neighbours.activations.map(({ revisionId }) => revisionId)).toEqual([one.id]);
});

it('retains a dark revision that still runs, until the route no longer names it', async () => {
  await put({
    targets: [
      { revision: one.name, weight: 100 },
      { revision: two.name, weight: 0 },
    ],
  });
  expect([...bed.neighbours.holdsOf(two.id)]).toEqual(['route']);
  await put({ revision: one.name });
  expect([...bed.neighbours.holdsOf(two.id)]).toEqual(['warm 3600']);
  // A revision that stays in the route is still retained, and is not activated again.
  expect([...bed.neighbours.holdsOf(one.id)]).toEqual(['route']);
  expect(bed.neighbours.activations).toHaveLength(1);
});

it.each([
  ['neither form', {}, '422 validation_failed'],
  ['both forms', { revision: '1', targets: [{ revision: '1', weight: 100 }] }, '422 validation_failed'],
  ['no targets', { targets: [] }, '422 validation_failed'],
  ['a weight over 100', { targets: [{ revision: '1', weight: 101 }] }, '422 validation_failed'],
  [
    'a fraction',
    {
      targets: [
        { revision: '1', weight: 50.5 },
        { revision: '2', weight: 49.5 },
      ],
    },
    '400 invalid_parameter',
  ],
  ['a weight as text', { targets: [{ revision: '1', weight: '100' }] }, '400 invalid_parameter'],
  ['a sum of 99', { targets: [{ revision: '1', weight: 99 }] }, '422 route_weights_invalid'],
  [
    'a revision twice',
    {
      targets: [
        { revision: '1', weight: 50 },
        { revision: 'chat-00001', weight: 50 },
      ],
    },
    '404 revision_not_found',
  ],
  ['an unknown revision before a wrong sum', { targets: [{ revision: '9', weight: 7 }] }, '404 revision_not_found'],
  ['a ttl of 0', { targets: [{ revision: '1', weight: 100 }], affinity: { ttl_seconds: 0 } }, '422 validation_failed'],
])('refuses %s', async (_what, body, expected) => {
  expect(code(await put(body))).toBe(expected);
  expect(code(await get())).toBe('404 route_not_found');
});

it('refuses a revision that is named twice in two ways', async () => {
  const answer = await put({
    targets: [
      { revision: one.id, weight: 50 },
      { revision: '1', weight: 50 },
    ],
  });
  expect(code(answer)).toBe('422 route_weights_invalid');
  expect(answer.body.error.details).toMatchObject([{ field: 'targets[1].revision', code: 'duplicate' }]);
});

it('refuses traffic for revisions that cannot serve it, and names each', async () => {
  const dead = bed.neighbours.addRevision(deployment, 3, 'active', 0);
  const failed = bed.neighbours.addRevision(deployment, 4, 'failed');
  const answer = await put({
    targets: [
      { revision: one.name, weight: 50 },
      { revision: dead.name, weight: 25 },
      { revision: failed.name, weight: 25 },
    ],
  });
  expect(code(answer)).toBe('409 revision_not_ready');
  expect(answer.body.error.revisions).toEqual([dead.name, failed.name]);
  expect(code(await put({ revision: dead.name }))).toBe('409 revision_not_ready');
  expect(bed.neighbours.activations).toEqual([]);
  expect(await bed.published(deployment.id)).toBeUndefined();
});

it.each(['pending', 'provisioning', 'draining', 'retired', 'failed'] as const)(
  'refuses traffic for a revision that is %s, even if an instance of it answers',
  async (state) => {
    const unfit = bed.neighbours.addRevision(deployment, 3, state);
    expect(code(await put({ revision: unfit.name }))).toBe('409 revision_not_ready');
  },
);

it.each(['ready', 'active', 'standby'] as const)('accepts traffic for a revision that is %s', async (state) => {
  const fit = bed.neighbours.addRevision(deployment, 3, state);
  expect((await put({ revision: fit.name })).status).toBe(200);
});

it('accepts traffic for a sleeping revision, which its requests wake, unless it has retired', async () => {
  const sleeper = bed.neighbours.addRevision(deployment, 3, 'standby', 0);
  bed.neighbours.asleep.add(sleeper.id);
  expect((await put({ revision: sleeper.name })).status).toBe(200);
  expect([...bed.neighbours.holdsOf(sleeper.id)]).toEqual(['route']);
  const gone = bed.neighbours.addRevision(deployment, 4, 'retired', 0);
  bed.neighbours.asleep.add(gone.id);
  expect(code(await put({ revision: gone.name }))).toBe('409 revision_not_ready');
});

it('lets a revision that is down keep or lose a share, so that another can take over', async () => {
  expect((await put(split(20, 80))).status).toBe(200);
  bed.neighbours.ready.set(one.id, 0);
  expect((await put(split(10, 90))).status).toBe(200);
  expect(code(await put(split(30, 70)))).toBe('409 revision_not_ready');
  expect((await put({ revision: two.name })).status).toBe(200);
});

it('retains a revision before it checks readiness, and refuses one that was being stopped', async () => {
  bed.neighbours.onHold = (id) => bed.neighbours.ready.set(id, 0);
  expect(code(await put({ revision: one.name }))).toBe('409 revision_not_ready');
  bed.neighbours.ready.set(one.id, 1);
  expect(code(await put(split(70, 30)))).toBe('409 revision_not_ready');
  bed.neighbours.ready.set(one.id, 1);
  bed.neighbours.ready.set(two.id, 1);
  const targets = [{ revisionId: one.id, revisionName: one.name, weight: 100 }];
  await expect(
    bed.database.tx('system', (tx) =>
      bed.routes.apply(tx, {
        tenantId: 'ten_a',
        deploymentId: deployment.id,
        deploymentName: deployment.name,
        targets,
        updatedBy: ACTOR,
        keepPreviousSeconds: 0,
      }),
    ),
  ).rejects.toMatchObject({ code: 'revision_not_ready' });
  expect(await bed.published(deployment.id)).toBeUndefined();
});

it('refuses other tenants, even if their body is invalid', async () => {
  await put({ revision: '1' });
  for (const body of [{ revision: '1' }, {}])
    expect(code(await bed.send('PUT', `/deployments/${deployment.name}/route`, { tenant: 'ten_b', body }))).toBe(
      '404 deployment_not_found',
    );
  expect(code(await bed.send('GET', `/deployments/${deployment.name}/route`, { tenant: 'ten_b' }))).toBe(
    '404 deployment_not_found',
  );
});

it('compares If-Match with the generation before it checks for conflicts', async () => {
  expect(code(await put({ revision: '1' }, { 'if-match': '"x"' }))).toBe('412 precondition_failed');
  // Invalid weights are reported before it, with the reason.
  const wrong = await put(split(70, 29), { 'if-match': '"x"' });
  expect([code(wrong), wrong.body.error.message]).toEqual([
    '422 route_weights_invalid',
    'targets: the weights must sum to 100, but they sum to 99.',
  ]);
  const { etag } = (await put({ revision: '1' })).body;
  expect((await put(split(50, 50), { 'if-match': etag })).status).toBe(200);
  expect(await get({ 'if-none-match': etag })).toMatchObject({ status: 200 });
  const { headers } = await get();
  expect(await get({ 'if-none-match': String(headers['etag']) })).toEqual(
    expect.objectContaining({ status: 304, body: undefined }),
  );
  const stale = await put({ revision: '1' }, { 'if-match': etag });
  expect(code(stale)).toBe('412 precondition_failed');
  expect(stale.headers['etag']).toBe((await get()).headers['etag']);
  await bed.database.tx('system', (tx) => bed.routes.takeTraffic(tx, deployment.id, 'op_1'));
  expect(code(await put({ revision: '1' }, { 'if-match': etag }))).toBe('412 precondition_failed');
  const owned = await put({ revision: '1' });
  expect([code(owned), owned.body.error.operation_id]).toEqual(['409 route_owned_by_operation', 'op_1']);
});

it('replaces no route past If-None-Match', async () => {
  expect((await put({ revision: '1' }, { 'if-none-match': '*' })).status).toBe(200);
  const { etag, generation } = (await get()).body;
  for (const known of ['*', etag])
    expect(code(await put(split(50, 50), { 'if-none-match': known }))).toBe('412 precondition_failed');
  expect((await get()).body.generation).toBe(generation);
  expect((await put(split(50, 50), { 'if-none-match': '"other"' })).status).toBe(200);
});

it('rehearses with every check, without writing anything', async () => {
  expect(code(await put({ revision: '9' }, {}, '?validate_only=true'))).toBe('404 revision_not_found');
  const first = await put({ revision: '1' }, {}, '?validate_only=true');
  expect(first.body).toMatchObject({
    valid: true,
    would: `set the route of ${deployment.name}`,
    steps: [],
    diff: [{ op: 'add', path: '', value: { generation: 1 } }],
  });
  expect(code(await get())).toBe('404 route_not_found');
  expect(await events()).toEqual([]);
  expect(await bed.published(deployment.id)).toBeUndefined();
  await put({ revision: '1' });
  expect((await put({ revision: '1' }, {}, '?validate_only=true')).body).toMatchObject({
    would: 'change nothing',
    diff: [],
  });
  const { status, body } = await put(split(60, 40), {}, '?validate_only=true');
  expect([status, body.diff]).toEqual([
    200,
    expect.arrayContaining([{ op: 'replace', path: '/targets/0/weight', value: 60 }]),
  ]);
  expect([(await get()).body.generation, await audits()]).toEqual([1, 1]);
});

it('numbers the changes of many writers one by one', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => put(split(90 - index, 10 + index))));
  expect(answers.map((answer) => answer.body.generation).sort((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ]);
  expect((await events()).map((event) => event.data.generation)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect((await bed.published(deployment.id))?.generation).toBe(10);
});

it('lets an operation apply, restore and remove routes, and never repeats a generation', async () => {
  const change = (targets: RouteChange['targets'], more: Partial<RouteChange> = {}): RouteChange => ({
    tenantId: 'ten_a',
    deploymentId: deployment.id,
    deploymentName: deployment.name,
    targets,
    updatedBy: ACTOR,
    keepPreviousSeconds: 0,
    ...more,
  });
  const all = (revision: Revision) => [{ revisionId: revision.id, revisionName: revision.name, weight: 100 }];
  const apply = (next: RouteChange) => bed.database.tx('system', (tx) => bed.routes.apply(tx, next));
  expect(await apply(change(all(one)))).toMatchObject({ generation: 1, affinity: { mode: 'soft', ttlSeconds: 600 } });
  expect(await apply(change(all(two), { operationId: 'op_1', reason: 'better' }))).toMatchObject({ generation: 2 });
  expect((await events())[1]).toMatchObject({ data: { reason: 'better', generation: 2 } });
  expect(
    await bed.database.read('system', `select operation_id from events where stream = $1 order by sequence`, [
      `deployment/${deployment.id}`,
    ]),
  ).toEqual([{ operation_id: null }, { operation_id: 'op_1' }]);
  expect([...bed.neighbours.holdsOf(one.id)]).toEqual([]);
  bed.neighbours.ready.set(one.id, 0);
  await expect(apply(change(all(one)))).rejects.toMatchObject({ code: 'revision_not_ready' });
  expect(await apply(change(all(one), { isRestore: true, keepPreviousSeconds: 60 }))).toMatchObject({ generation: 3 });
  expect([...bed.neighbours.holdsOf(two.id)]).toEqual(['warm 60']);
  await expect(apply(change([{ ...all(two)[0]!, weight: 99 }]))).rejects.toMatchObject({
    code: 'route_weights_invalid',
  });

  const remove = () => bed.database.tx('system', (tx) => bed.routes.remove(tx, deployment.id, ACTOR));
  await remove();
  await remove();
  expect(await bed.database.tx('system', (tx) => bed.routes.current(tx, deployment.id))).toBeUndefined();
  expect(await bed.published(deployment.id)).toEqual({ generation: 4, slots: {} });
  expect((await events()).map(({ data }) => data.generation)).toEqual([1, 2, 3, 4]);
  expect([...bed.neighbours.holdsOf(one.id)]).toEqual([]);
  expect(code(await get())).toBe('404 route_not_found');
  expect(await apply(change(all(two)))).toMatchObject({ generation: 5 });
});

it('has one owner of the traffic at a time', async () => {
  const take = (operationId: string) =>
    bed.database.tx({ tenantId: 'ten_a' }, (tx) => bed.routes.takeTraffic(tx, deployment.id, operationId));
  const outcomes = await Promise.allSettled(['op_1', 'op_2', 'op_3'].map(take));
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  const owner = (await bed.database.tx('system', (tx) => bed.routes.trafficOwner(tx, deployment.id))) as string;
  await take(owner);
  const refusal = await take('op_4').catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'operation_in_progress', extra: { operation_id: owner } });
  const release = (operationId: string) =>
    bed.database.tx('system', (tx) => bed.routes.releaseTraffic(tx, deployment.id, operationId));
  const ownerNow = () => bed.database.tx('system', (tx) => bed.routes.trafficOwner(tx, deployment.id));
  // Only the owner can release it.
  await release('op_4');
  expect(await ownerNow()).toBe(owner);
  await release(owner);
  expect(await ownerNow()).toBeUndefined();
  await take('op_4');
  expect(await ownerNow()).toBe('op_4');
});

it('gives an operation the traffic of one deployment, not of all', async () => {
  const other = bed.neighbours.addDeployment(`other${count}`);
  const take = (id: string, operationId: string) =>
    bed.database.tx({ tenantId: 'ten_a' }, (tx) => bed.routes.takeTraffic(tx, id, operationId));
  await take(deployment.id, 'op_1');
  await take(other.id, 'op_2');
  await bed.database.tx('system', (tx) => bed.routes.releaseTraffic(tx, other.id, 'op_1'));
  expect(await bed.database.tx('system', (tx) => bed.routes.trafficOwner(tx, other.id))).toBe('op_2');
  expect(await bed.database.tx('system', (tx) => bed.routes.trafficOwner(tx, deployment.id))).toBe('op_1');
});

it('deletes statistics after two weeks, usage after five weeks, sessions a day after their end, and records', async () => {
  const [stats, usage, sessions, records, peaks] = [
    `insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, server_error, connect_error,
       cancelled, retried, streamed, tokens_in, tokens_out, histograms)
     select $1, now() - make_interval(days => days), 'gw', 'ten_a', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}' from unnest(array[13, 15]) as days`,
    `insert into dataplane_request_usage (gateway_id, window_start, row_number, tenant_id, revision_id, ok, client_error, server_error, cancelled,
       upstream_faults, tokens_in, tokens_out, duration_ms, attempts, mean_in_flight)
     select 'gw', now() - make_interval(days => days), 1, 'ten_a', $1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0 from unnest(array[34, 36]) as days`,
    `insert into dataplane_passports (id, tenant_id, deployment_id, deployment_name, key_hash, source, mode, ttl_seconds, expires_at)
     select $1 || hours, 'ten_a', 'd', 'd', 'k', 'header', 'soft', 1, now() - make_interval(hours => hours) from unnest(array[23, 25]) as hours`,
    `insert into dataplane_service_records (revision_id, seconds, starts_at, tenant_id, arrivals, refused, record)
     select $1, seconds, now() - make_interval(days => days), 'ten_a', 0, 0, '{}' from (values (60, 7), (60, 9), (3600, 29), (3600, 31)) as of(seconds, days)`,
    `insert into dataplane_engine_peaks (revision_id, starts_at, tenant_id)
     select $1, now() - make_interval(days => days), 'ten_a' from unnest(array[3, 5]) as days`,
  ];
  const left = () =>
    bed.database.read(
      'system',
      `select (select count(*)::int from dataplane_request_stats where revision_id = $1) as stats,
         (select count(*)::int from dataplane_request_usage where revision_id = $1) as usage,
         (select count(*)::int from dataplane_passports where id like $1 || '%') as sessions,
         (select array_agg(seconds order by seconds) from dataplane_service_records where revision_id = $1) as records,
         (select count(*)::int from dataplane_engine_peaks where revision_id = $1) as peaks`,
      [one.id],
    );
  await bed.database.tx('system', async (tx) => {
    for (const sql of [stats, usage, sessions, records, peaks]) await tx.query(sql as string, [one.id]);
  });
  expect(await left()).toEqual([{ stats: 2, usage: 2, sessions: 2, records: [60, 60, 3600, 3600], peaks: 2 }]);
  await bed.forgetRecords();
  expect(await left()).toEqual([{ stats: 1, usage: 1, sessions: 1, records: [60, 3600], peaks: 1 }]);
});

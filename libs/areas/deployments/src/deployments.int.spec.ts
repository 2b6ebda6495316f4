import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { beside } from '@slipway/platform-database/testing';
import { appendEvents } from '@slipway/platform-durable/events';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DeploymentsBed } from '../test/deployments-bed.js';

let bed: DeploymentsBed;
let port: DeploymentsPort;
let count = 0;
let name: string;

beforeAll(async () => {
  bed = await DeploymentsBed.start();
  port = bed.app.get(DEPLOYMENTS, { strict: false });
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  count += 1;
  name = `chat-${count}`;
});

const create = (body: object = {}, tenant?: string) =>
  bed.send('POST', '/deployments', { tenant, body: { name, ...body } });
const get = (tenant?: string) => bed.send('GET', `/deployments/${name}`, { tenant });

it('creates a deployment with every field that a client may set, and shows it', async () => {
  const body = {
    display_name: 'Chat',
    description: 'for people',
    labels: { team: 'search' },
    environment: 'production',
    revision_history_limit: 3,
    default_strategy: {
      type: 'canary',
      steps: [{ traffic_percent: 10 }, { traffic_percent: 100, requires_approval: true, pause: false }],
    },
  };
  const created = await create(body);
  expect(created.status).toBe(201);
  expect(created.headers['location']).toBe(`/api/v1/deployments/${name}`);
  expect(created.body).toMatchObject({
    ...body,
    name,
    state: 'creating',
    active_revision: null,
    candidate_revision: null,
    previous_revision: null,
    route: null,
    current_operation_id: null,
    default_strategy: {
      type: 'canary',
      steps: [
        { traffic_percent: 10, soak_seconds: 180, requires_approval: false, pause: false },
        { traffic_percent: 100, requires_approval: true, pause: false },
      ],
    },
    conditions: [
      { type: 'Ready', status: 'False', reason: 'NoRoute' },
      { type: 'Progressing', status: 'False' },
      { type: 'Degraded', status: 'False' },
    ],
  });
  const shown = await get();
  expect(shown.body).toEqual(created.body);
  expect(shown.headers['etag']).toBe(created.body.etag);
});

it('fills in defaults and warns of unknown fields', async () => {
  const created = await create({ nmae: 'x', default_strategy: { type: 'immediate', color: 'red' } });
  expect(created.body).toMatchObject({
    display_name: null,
    description: null,
    labels: {},
    environment: null,
    revision_history_limit: 10,
  });
  expect(created.body.warnings).toEqual([
    { code: 'unknown_field', field: 'default_strategy.color' },
    { code: 'unknown_field', field: 'nmae', message: 'did you mean `name`?' },
  ]);
});

it.each([
  [{ name: 'Chat' }, 422, 'name'],
  [{ name: '-chat' }, 422, 'name'],
  [{ name: 'a'.repeat(64) }, 422, 'name'],
  [{ name: undefined }, 422, 'name'],
  [{ name: 7 }, 400, 'name'],
  [{ labels: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 'v'])) }, 422, 'labels'],
  [
    { default_strategy: { type: 'canary', steps: [{ traffic_percent: 50 }, { traffic_percent: 50 }] } },
    422,
    'default_strategy.steps',
  ],
  [{ default_strategy: { type: 'canary', steps: [{ traffic_percent: 50 }] } }, 422, 'default_strategy.steps'],
  [{ default_strategy: { type: 'candidate', steps: [{ traffic_percent: 100 }] } }, 422, 'default_strategy.steps'],
])('refuses %j', async (body, status, field) => {
  const answer = await create(body);
  expect({
    status: answer.status,
    fields: answer.body.error.details.map((issue: { field: string }) => issue.field),
  }).toEqual({ status, fields: [field] });
});

it('gives a name to one of many concurrent creations, and to each tenant its own', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => create()));
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
  const refused = answers.filter((answer) => answer.status === 409);
  expect(refused).toHaveLength(11);
  expect(refused[0]?.body.error.code).toBe('deployment_exists');
  expect((await create({}, 'ten_b')).status).toBe(201);
});

it('rehearses a creation without writing anything', async () => {
  const counts = () =>
    bed.database.read<{ n: string }>(
      'system',
      `select (select count(*) from deployments)::text || '/' || (select count(*) from events) || '/' || (select count(*) from audit_log) || '/' || (select count(*) from dataplane_routes) as n`,
    );
  const before = await counts();
  const answer = await bed.send('POST', '/deployments?validate_only=true', { body: { name } });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    valid: true,
    would: `create deployment ${name}`,
    steps: [],
    diff: [{ op: 'add', path: '', value: { name } }],
  });
  expect(await counts()).toEqual(before);
  await create();
  expect((await bed.send('POST', '/deployments?validate_only=true', { body: { name } })).status).toBe(409);
});

it('records a creation as an event, an audit row and a gateway entry', async () => {
  const { body } = await create({ labels: { a: 'b' } });
  const events = await bed.send('GET', `/deployments/${name}/events`);
  expect(events.body.data).toMatchObject([
    {
      type: 'deployment.created',
      sequence: 1,
      subject: `deployments/${name}`,
      actor: 'token:tok_1',
      data: { deployment_id: body.id, labels: { a: 'b' } },
    },
  ]);
  const audits = await bed.database.read('system', `select action, actor from audit_log where resource_name = $1`, [
    name,
  ]);
  expect(audits).toEqual([{ action: 'deployment.create', actor: 'token:tok_1' }]);
  const published = await bed.database.read(
    'system',
    `select generation::int, cardinality(slots) as slots from dataplane_routes where deployment_id = $1`,
    [body.id],
  );
  expect(published).toEqual([{ generation: 0, slots: 0 }]);
});

it('hides deployments of other tenants', async () => {
  await create();
  for (const path of [`/deployments/${name}`, `/deployments/${name}/events`, `/deployments/${name}/events?limit=0`]) {
    const answer = await bed.send('GET', path, { tenant: 'ten_b' });
    expect({ path, status: answer.status, code: answer.body.error.code }).toEqual({
      path,
      status: 404,
      code: 'deployment_not_found',
    });
  }
  expect((await bed.send('DELETE', `/deployments/${name}`, { tenant: 'ten_b' })).status).toBe(404);
});

it('lists by pages, newest first, filtered by environment and labels', async () => {
  const tenant = `ten_list`;
  for (const [index, labels] of [{ team: 'a' }, { team: 'b', gpu: '1' }, { team: 'a', gpu: '' }].entries()) {
    await bed.send('POST', '/deployments', {
      tenant,
      body: { name: `d${index}`, labels, environment: index === 1 ? 'staging' : 'production' },
    });
  }
  const names = async (query: string) =>
    (await bed.send('GET', `/deployments${query}`, { tenant })).body.data.map((one: { name: string }) => one.name);
  expect(await names('')).toEqual(['d2', 'd1', 'd0']);
  expect(await names('?environment=production')).toEqual(['d2', 'd0']);
  expect(await names('?label=team=a')).toEqual(['d2', 'd0']);
  expect(await names('?label=gpu')).toEqual(['d2', 'd1']);
  expect(await names('?label=gpu,team=b')).toEqual(['d1']);
  expect(await names('?label=gpu=')).toEqual(['d2']);
  const first = (await bed.send('GET', '/deployments?limit=2', { tenant })).body;
  expect(first.data.map((one: { name: string }) => one.name)).toEqual(['d2', 'd1']);
  const second = (await bed.send('GET', `/deployments?limit=2&cursor=${first.next_cursor}`, { tenant })).body;
  expect(second).toMatchObject({ data: [{ name: 'd0' }], next_cursor: null });
  // These conditions of other selectors would match nothing, and look like an answer.
  for (const condition of ['=x', 'team!=a', 'team==a', '!team', 'team in (a,b)', 'gpu,!team'])
    expect([
      condition,
      (await bed.send('GET', `/deployments?label=${encodeURIComponent(condition)}`, { tenant })).status,
    ]).toEqual([condition, 422]);
  // Text in any of the fields, together with the other filters; its own wildcards are no wildcards.
  expect(await names('?q=STAG')).toEqual(['d1']);
  expect(await names('?q=d&environment=production')).toEqual(['d2', 'd0']);
  expect(await names('?q=prod&environment=production&label=gpu')).toEqual(['d2']);
  expect(await names('?q=d_')).toEqual([]);
  expect(await names('?state=creating&order=asc')).toEqual(['d0', 'd1', 'd2']);
  expect(await names('?state=active')).toEqual([]);
  const oldest = (await bed.send('GET', '/deployments?q=d&limit=2&order=asc', { tenant })).body;
  const next = (query: string) => bed.send('GET', `/deployments?q=d&cursor=${oldest.next_cursor}${query}`, { tenant });
  expect((await next('&order=asc')).body.data).toMatchObject([{ name: 'd2' }]);
  expect(await next('')).toMatchObject({ status: 400, body: { error: { code: 'invalid_parameter' } } });
});

it('pages events both ways, by cursor and by sequence', async () => {
  const { body } = await create();
  await bed.database.tx('system', async (tx) => {
    const type = (n: number) => (n % 2 === 0 ? 'route.updated' : 'revision.ready');
    await appendEvents(
      tx,
      'ten_a',
      `deployment/${body.id}`,
      [2, 3, 4, 5].map((n) => ({
        type: type(n),
        subject: `deployments/${name}`,
        actor: { type: 'system', id: 'test' },
        data: {},
      })),
    );
  });
  const list = async (query: string) => (await bed.send('GET', `/deployments/${name}/events?${query}`)).body;
  const sequences = (page: { data: { sequence: number }[] }) => page.data.map((one) => one.sequence);
  expect(sequences(await list(''))).toEqual([5, 4, 3, 2, 1]);
  expect(sequences(await list('order=asc&after=3'))).toEqual([4, 5]);
  expect(sequences(await list('after=3'))).toEqual([2, 1]);
  expect(sequences(await list('type=route.updated'))).toEqual([4, 2]);
  const first = await list('order=asc&limit=2');
  expect(sequences(first)).toEqual([1, 2]);
  expect(sequences(await list(`order=asc&limit=2&cursor=${first.next_cursor}`))).toEqual([3, 4]);
  expect((await list('order=up')).error.code).toBe('validation_failed');
  await bed.database.tx('system', (tx) =>
    tx.query('delete from events where stream = $1 and sequence < 4', [`deployment/${body.id}`]),
  );
  expect((await list('order=asc&after=1')).error.code).toBe('cursor_expired');
  expect(sequences(await list('order=asc'))).toEqual([4, 5]);
});

it('shows the last failed start until a later rollout gives a revision all traffic', async () => {
  const { body } = await create();
  expect(body.last_failed_start).toBeNull();
  const failure = { cause: 'exited' as const, message: 'it ended', remediation: 'Correct it.', exit_code: 7 };
  bed.neighbours.failedStarts.set(body.id, {
    revision: `${name}-00001`,
    instanceId: 'ins_1',
    at: '2030-01-02T00:00:00.000Z',
    failure: { ...failure, signal: null, line: 'it ended', log_tail: ['it ended'] },
  });
  const last = async () => (await get()).body.last_failed_start;
  bed.neighbours.activations.set(body.id, '2030-01-01T00:00:00.000Z');
  expect(await last()).toEqual({
    revision: `${name}-00001`,
    instance_id: 'ins_1',
    at: '2030-01-02T00:00:00.000Z',
    ...failure,
    signal: null,
    log_tail: ['it ended'],
  });
  bed.neighbours.activations.set(body.id, '2030-01-03T00:00:00.000Z');
  expect(await last()).toBeNull();
});

it('shows revisions by name, the route and the current health, and the round stores since when', async () => {
  const { body } = await create();
  const { id } = body;
  bed.neighbours.routes.set(id, {
    deploymentId: id,
    generation: 4,
    affinity: { mode: 'soft', ttlSeconds: 600 },
    targets: [
      { revisionId: 'r1', revisionName: 'one', weight: 100 },
      { revisionId: 'r2', revisionName: 'two', weight: 0 },
    ],
  });
  bed.neighbours.statuses.set('r1', { desired: 2, ready: 1, alive: 2, restarts: 0, message: null, baseUrls: [] });
  await bed.database.tx('system', (tx) => port.update(tx, id, { activeRevisionId: 'r1', candidateRevisionId: 'r2' }));
  const shown = (await get()).body;
  expect(shown).toMatchObject({
    state: 'degraded',
    active_revision: 'name-of-r1',
    candidate_revision: 'name-of-r2',
    previous_revision: null,
    route: {
      generation: 4,
      targets: [
        { revision: 'one', weight: 100 },
        { revision: 'two', weight: 0 },
      ],
      affinity: { mode: 'soft', ttl_seconds: 600 },
    },
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Progressing', status: 'False' },
      { type: 'Degraded', status: 'True', reason: 'InstancesNotReady' },
    ],
  });
  expect(shown.etag).not.toBe(body.etag);

  await bed.healthRound();
  const stored = (
    await bed.database.read<any>('system', 'select state, conditions from deployments where id = $1', [id])
  )[0];
  expect(stored.state).toBe('degraded');
  expect((await get()).body.conditions).toEqual(stored.conditions);
  expect((await get()).body.etag).toBe(shown.etag);
  bed.neighbours.statuses.set('r1', { desired: 2, ready: 2, alive: 2, restarts: 0, message: null, baseUrls: [] });
  expect((await get()).body).toMatchObject({
    state: 'active',
    conditions: [
      { status: 'True', last_transition_at: stored.conditions[0].last_transition_at },
      {},
      { status: 'False' },
    ],
  });
});

it('drops an observation of a row that has changed since or is locked', async () => {
  const { id } = (await create()).body;
  const health = (ready: number) => ({ desired: 1, ready, alive: 1, restarts: 0, message: null, baseUrls: [] });
  bed.neighbours.routes.set(id, {
    deploymentId: id,
    generation: 1,
    affinity: { mode: 'soft', ttlSeconds: 600 },
    targets: [{ revisionId: `r-${id}`, revisionName: 'one', weight: 100 }],
  });
  const stored = async () =>
    (await bed.database.read<any>('system', 'select state from deployments where id = $1', [id]))[0].state;
  const roundDuring = async (elsewhere: () => Promise<void>) => {
    bed.neighbours.onLook = async (revisionId) => {
      if (revisionId === `r-${id}`) await beside(elsewhere);
    };
    try {
      await bed.healthRound();
    } finally {
      bed.neighbours.onLook = undefined;
    }
  };
  await bed.database.tx('system', (tx) => port.update(tx, id, { activeRevisionId: `r-${id}` }));
  bed.neighbours.statuses.set(`r-${id}`, health(0));
  // During the observation an operation starts, whose state must not be overwritten.
  await roundDuring(() =>
    bed.database.tx('system', (tx) => port.update(tx, id, { state: 'progressing', currentOperationId: 'op_1' })),
  );
  expect(await stored()).toBe('progressing');
  await bed.database.tx('system', (tx) => port.update(tx, id, { state: 'active', currentOperationId: null }));

  let unlock = (): void => undefined;
  let locker: Promise<void> = Promise.resolve();
  await roundDuring(async () => {
    const isOver = new Promise<void>((resolve) => (unlock = resolve));
    await new Promise<void>((isLocked) => {
      locker = bed.database.tx('system', async (tx) => {
        await port.lockById(tx, id);
        isLocked();
        await isOver;
      });
    });
  });
  unlock();
  await locker;
  expect(await stored()).toBe('active');
  await bed.healthRound();
  expect(await stored()).toBe('degraded');
});

it('serializes transactions that lock a deployment, and an activation ends creating and the candidacy', async () => {
  const { body } = await create();
  const order: string[] = [];
  let gotLock = (): void => undefined;
  const hasLock = new Promise<void>((resolve) => (gotLock = resolve));
  const first = bed.database.tx({ tenantId: 'ten_a' }, async (tx) => {
    await port.lock(tx, 'ten_a', name);
    gotLock();
    await tx.query('select pg_sleep(0.2)');
    await port.update(tx, body.id, { candidateRevisionId: 'r1', currentOperationId: 'op_1', state: 'progressing' });
    order.push('first');
  });
  await hasLock;
  await bed.database.tx('system', async (tx) => {
    const row = await port.lockById(tx, body.id);
    order.push('second');
    expect(row).toMatchObject({
      candidateRevisionId: 'r1',
      currentOperationId: 'op_1',
      state: 'progressing',
      version: 2,
    });
    expect(row).not.toHaveProperty('conditions');
    await port.update(tx, body.id, { currentOperationId: null, state: 'creating' });
    await port.update(tx, body.id, { activeRevisionId: 'r1' });
  });
  await first;
  expect(order).toEqual(['first', 'second']);
  const row = await bed.database.tx({ tenantId: 'ten_a' }, (tx) => port.get(tx, 'ten_a', name));
  expect(row).toMatchObject({ state: 'active', activeRevisionId: 'r1', candidateRevisionId: null, version: 4 });
  await expect(bed.database.tx({ tenantId: 'ten_b' }, (tx) => port.lock(tx, 'ten_b', name))).rejects.toMatchObject({
    code: 'deployment_not_found',
  });
});

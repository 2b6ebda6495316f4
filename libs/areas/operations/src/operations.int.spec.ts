import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ConfigModule } from '@slipway/platform-config';
import { Database, DatabaseModule } from '@slipway/platform-database';
import {
  errors,
  HttpModule,
  runInRequest,
  SlipwayHttpAdapter,
  type Scope,
  type SlipwayRequest,
} from '@slipway/platform-http';
import { RequestGuard } from '@slipway/platform-http/auth';
import { appendEvents } from '@slipway/platform-durable/events';
import { OperationStore, type OperationDefinition } from '@slipway/platform-durable/operations';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { platformMigrations, platformModules, testConfig } from '@slipway/platform-durable/operations/testing';
import { OperationsModule } from './index.js';

const ACTOR = { type: 'token', id: 'tok_1' } as const;
const RECORD_FIELDS = [
  'attempt',
  'awaiting',
  'cancel_reason',
  'cancel_requested',
  'completed_at',
  'created_at',
  'current_step',
  'current_step_status',
  'id',
  'idempotency_key',
  'kind',
  'max_attempts',
  'message',
  'pause',
  'progress',
  'reason',
  'request_id',
  'requested_by',
  'resource_name',
  'resource_type',
  'result',
  'resume_at',
  'retryable',
  'status',
  'steps',
  'superseded_by',
  'updated_at',
  'waiting_for',
];

/** Identifies the callers of open streams again. */
@Global()
@Module({
  providers: [
    { provide: RequestGuard, useValue: { authenticate: async ({ slipway }: SlipwayRequest) => slipway.principal } },
  ],
  exports: [RequestGuard],
})
class CallerModule {}

let testDatabase: TestDatabase;
let app: NestFastifyApplication;
let database: Database;
let store: OperationStore;
let url: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase(platformMigrations);
  const config = testConfig(testDatabase.url);
  const module = await Test.createTestingModule({
    imports: [
      ConfigModule.forRoot(config),
      DatabaseModule.forRoot(config),
      HttpModule,
      CallerModule,
      ...platformModules('api'),
      OperationsModule,
    ],
  }).compile();
  const adapter = new SlipwayHttpAdapter();
  adapter.setGuard(async (request) => {
    const tenantId = request.headers.authorization;
    if (!tenantId) throw errors.unauthenticated();
    request.slipway.tenantId = tenantId;
    request.slipway.principal = {
      tenantId,
      tenantName: tenantId,
      isOperatorTenant: false,
      actor: ACTOR,
      scopes: new Set<Scope>(['viewer', 'operator', 'admin']),
      owner: { type: 'person', id: 'alice' },
      minters: [],
    };
  });
  app = module.createNestApplication<NestFastifyApplication>(adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}/api/v1`;
  database = app.get(Database, { strict: false });
  store = app.get(OperationStore, { strict: false });
}, 60_000);
afterAll(async () => {
  app?.getHttpServer().closeAllConnections();
  await app?.close();
  await testDatabase?.drop();
});

function begin(kind = 'probe', resourceName = 'chat', tenantId = 'ten_a'): Promise<string> {
  return database.tx({ tenantId }, async (tx) => {
    const operation: OperationDefinition = { kind, steps: ['first', 'second'], unwind: {} };
    const claim = { operation, resourceType: 'deployment', resourceName, requestedBy: ACTOR, reason: 'because' };
    const { id } = await store.claim(tx, claim);
    const stream = `deployment/${id}`;
    await store.start(tx, { id, operation, resourceId: 'dep_1', stream, input: {}, steps: operation.steps });
    return id;
  });
}

async function send(
  method: string,
  path: string,
  { tenant = 'ten_a', ...headers }: Record<string, string> = {},
  body?: object,
) {
  const json = body && { 'content-type': 'application/json' };
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: tenant, ...headers, ...json },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : undefined,
    type: answer.headers.get('content-type'),
  };
}

const change = (sql: string, id: string) =>
  database.tx('system', (tx) => tx.query(`update operations set ${sql} where id = $1`, [id]));
const tell = (id: string, status: string) =>
  database.tx('system', (tx) =>
    appendEvents(tx, 'ten_a', `deployment/${id}`, [
      {
        type: 'operation.status_changed',
        subject: `operations/${id}`,
        actor: ACTOR,
        operationId: id,
        data: { status },
      },
    ]),
  );

it('shows the whole record, and error_code only for a failure', async () => {
  const id = await begin();
  const { body, status, type } = await send('GET', `/operations/${id}`);
  expect({ status, type }).toEqual({ status: 200, type: 'application/json; charset=utf-8' });
  expect(Object.keys(body).sort()).toEqual(RECORD_FIELDS);
  expect(body).toMatchObject({
    id,
    kind: 'probe',
    status: 'pending',
    progress: 0,
    attempt: 0,
    max_attempts: 5,
    current_step: 'first',
    current_step_status: 'pending',
    result: {},
    reason: 'because',
    requested_by: ACTOR,
  });
  expect(body.steps).toMatchObject([
    { name: 'first', index: 0, status: 'pending', started_at: null, evidence: null },
    { name: 'second', index: 1 },
  ]);
  await change(`status = 'failed', error_code = 'internal'`, id);
  expect((await send('GET', `/operations/${id}`)).body).toMatchObject({ status: 'failed', error_code: 'internal' });
});

it('shows the request that made the operation, and when it continues by itself or which person it waits for', async () => {
  const asleep = await begin();
  await change(`status = 'waiting', wake_at = '2030-01-01T00:00:00Z'`, asleep);
  expect((await send('GET', `/operations/${asleep}`)).body).toMatchObject({
    resume_at: '2030-01-01T00:00:00.000Z',
    awaiting: null,
    idempotency_key: null,
    request_id: null,
  });
  const paused = await runInRequest({ requestId: 'req_1', warnings: [] }, () => begin());
  await change(`status = 'waiting', awaiting = 'pause', idempotency_key = 'again'`, paused);
  expect((await send('GET', `/operations/${paused}`)).body).toMatchObject({
    resume_at: null,
    awaiting: 'pause',
    idempotency_key: 'again',
    request_id: 'req_1',
  });
});

it('shows what it waits for, also in rows of earlier releases, and filters by it', async () => {
  const tenant = 'ten_waits';
  const rows = [
    [`status = 'waiting', waiting_for = 'soak', wake_at = now()`, 'soak', null],
    [`status = 'waiting', waiting_for = 'resume', wake_at = now()`, 'resume', 'pause'],
    [`status = 'waiting', waiting_for = 'approval', awaiting = 'approval'`, 'approval', 'approval'],
    [`status = 'waiting', awaiting = 'approval'`, 'approval', 'approval'],
    [`status = 'waiting', awaiting = 'pause'`, 'decision', 'pause'],
    [`status = 'running', waiting_for = 'soak'`, null, null],
    [`status = 'cancelled', waiting_for = 'approval', completed_at = now(), pause = '{}'`, null, null],
  ] as const;
  const ids: string[] = [];
  for (const [set, waiting_for, awaiting] of rows) {
    const id = await begin('rollout', 'a', tenant);
    ids.push(id);
    await change(set, id);
    const { body } = await send('GET', `/operations/${id}`, { tenant });
    expect([set, body.waiting_for, body.awaiting, body.pause]).toEqual([set, waiting_for, awaiting, null]);
  }
  const { body } = await send('GET', '/operations?waiting_for=approval', { tenant });
  expect(body.data.map(({ id }: any) => ids.indexOf(id))).toEqual([3, 2]);
  expect((await send('GET', '/operations?waiting_for=nothing', { tenant })).body.error.code).toBe('validation_failed');
});

it('refuses to pause or promote an operation without such steps', async () => {
  const id = await begin();
  for (const [path, code] of [
    ['pause', 'operation_not_pausable'],
    ['promote', 'operation_not_promotable'],
  ] as const) {
    const { status, body } = await send('POST', `/operations/${id}/${path}`, {}, { reason: 'r' });
    expect([status, body.error.code]).toEqual([409, code]);
  }
});

it('hides operations of other tenants from every route', async () => {
  const id = await begin();
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/events'],
    ['GET', '/events?limit=0'],
    ['POST', '/cancel'],
    ['POST', '/retry'],
    ['POST', '/pause'],
    ['POST', '/promote'],
    ['POST', '/resume'],
  ] as const) {
    const answer = await send(method, `/operations/${id}${path}`, { tenant: 'ten_b' });
    expect({ path, status: answer.status, code: answer.body.error.code }).toEqual({
      path,
      status: 404,
      code: 'operation_not_found',
    });
  }
});

it('lists by pages, newest first, filtered', async () => {
  const tenant = 'ten_list';
  const ids = [
    await begin('rollout', 'a', tenant),
    await begin('rollback', 'a', tenant),
    await begin('rollout', 'b', tenant),
  ];
  await change(`status = 'succeeded'`, ids[0] as string);
  const list = async (query: string) => (await send('GET', `/operations?${query}`, { tenant })).body;
  const idsOf = (page: { data: { id: string }[] }) => page.data.map((one) => ids.indexOf(one.id));
  expect(idsOf(await list(''))).toEqual([2, 1, 0]);
  expect(idsOf(await list('kind=rollout'))).toEqual([2, 0]);
  expect(idsOf(await list('resource_name=a&status=pending'))).toEqual([1]);
  const first = await list('limit=2');
  expect(idsOf(await list(`limit=2&cursor=${first.next_cursor}`))).toEqual([0]);
  expect((await list('status=done')).error.code).toBe('validation_failed');
  expect(Object.keys(first.data[0]).sort()).toEqual(RECORD_FIELDS);
});

it('looks for the operation before it judges the fields of a request about it', async () => {
  for (const verb of ['cancel', 'pause', 'promote', 'resume']) {
    const answer = await send('POST', `/operations/op_none/${verb}`, {}, { reason: 'x'.repeat(10_000) });
    expect([verb, answer.status, answer.body.error.code]).toEqual([verb, 404, 'operation_not_found']);
  }
});

it('cancels once for several requests, and refuses an operation that has ended', async () => {
  const id = await begin();
  const answers = await Promise.all([1, 2, 3].map(() => send('POST', `/operations/${id}/cancel`)));
  expect(answers.map((answer) => [answer.status, answer.body.status, answer.body.cancel_requested])).toEqual(
    [1, 2, 3].map(() => [200, 'cancelling', true]),
  );
  expect((await send('GET', `/operations/${id}/events`)).body.data).toHaveLength(1);
  await change(`status = 'cancelled'`, id);
  const late = await send('POST', `/operations/${id}/cancel`);
  expect([late.status, late.body.error.code]).toEqual([409, 'operation_not_cancellable']);
});

it('keeps the first reason of a cancellation, in the record and in the event', async () => {
  const id = await begin();
  const cancel = (reason: string) => send('POST', `/operations/${id}/cancel`, {}, { reason });
  expect((await cancel('x'.repeat(2001))).body.error.code).toBe('validation_failed');
  expect((await cancel('the wrong model')).body.cancel_reason).toBe('the wrong model');
  expect((await cancel('somebody else')).body.cancel_reason).toBe('the wrong model');
  const { body } = await send('GET', `/operations/${id}/events`);
  const told = body.data.filter(({ data }: { data: { status: string } }) => data.status === 'cancelling');
  expect(told).toEqual([expect.objectContaining({ data: expect.objectContaining({ reason: 'the wrong model' }) })]);
});

it('retries a failed operation if it is retryable, and resumes one that waits for a person', async () => {
  const id = await begin();
  expect((await send('POST', `/operations/${id}/retry`)).body.error.code).toBe('operation_not_retryable');
  expect((await send('POST', `/operations/${id}/resume`)).body.error.code).toBe('operation_not_paused');
  await change(`status = 'failed', error_code = 'internal', retryable = true`, id);
  const retried = await send('POST', `/operations/${id}/retry`);
  expect(retried.body).toMatchObject({ status: 'pending', retryable: false });
  expect(retried.body).not.toHaveProperty('error_code');
  await change(`status = 'waiting', awaiting = 'approval'`, id);
  expect((await send('POST', `/operations/${id}/resume`)).body).toMatchObject({ status: 'running' });
});

it('lists and streams the events of one operation, and answers 204 to a client that already has all of them', async () => {
  const id = await begin();
  await tell(id, 'running');
  await database.tx('system', (tx) =>
    appendEvents(tx, 'ten_a', `deployment/${id}`, [
      { type: 'route.updated', subject: 'deployments/chat', actor: ACTOR, data: {} },
    ]),
  );
  const head = await send('HEAD', `/operations/${id}/events`, { accept: 'text/event-stream' });
  expect([head.status, head.type, head.text]).toEqual([200, 'text/event-stream; charset=utf-8', '']);
  await tell(id, 'succeeded');
  await change(`status = 'succeeded'`, id);
  const listed = await send('GET', `/operations/${id}/events?order=asc`);
  expect(listed.body).toMatchObject({
    data: [
      { sequence: 1, operationid: id },
      { sequence: 3, operationid: id },
    ],
    next_cursor: null,
  });
  const stream = { accept: 'text/event-stream' };
  const whole = await send('GET', `/operations/${id}/events`, stream);
  expect(whole.type).toBe('text/event-stream; charset=utf-8');
  expect([...whole.text.matchAll(/^id: (\d+)$/gm)].map((match) => match[1])).toEqual(['1', '3']);
  const resumed = await send('GET', `/operations/${id}/events`, { ...stream, 'last-event-id': '1' });
  expect([...resumed.text.matchAll(/^id: (\d+)$/gm)].map((match) => match[1])).toEqual(['3']);
  expect((await send('GET', `/operations/${id}/events`, { ...stream, 'last-event-id': '3' })).status).toBe(204);
  const wrong = await send('GET', `/operations/${id}/events`, { ...stream, 'last-event-id': 'x' });
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_parameter']);
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '@slipway/platform-database';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { owned } from '@slipway/platform-testing/contract';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { ROOT } from '../harness/stack.js';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

let api: TestApi;

beforeAll(async () => {
  api = await bootApi({ SLIPWAY_METRICS_TOKEN: 'metrics-secret-of-some-length' });
});

afterAll(async () => {
  await api?.close();
});

it('answers health and readiness without a token', async () => {
  expect((await api.send('GET', '/healthz', { token: null })).body).toEqual({ status: 'ok' });
  expect((await api.send('GET', '/readyz', { token: null })).body).toEqual({ status: 'ready' });
});

it('is alive but not ready while Postgres is away', async () => {
  const database = api.app.get(Database, { strict: false });
  const ping = database.ping.bind(database);
  database.ping = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  try {
    const answer = await api.send('GET', '/readyz', { token: null });
    expect([answer.status, answer.body.error.code, answer.body.error.retryable]).toEqual([503, 'unavailable', true]);
    expect((await api.send('GET', '/healthz', { token: null })).status).toBe(200);
  } finally {
    database.ping = ping;
  }
});

it('shows metrics to the metrics token and to the operator tenant only', async () => {
  await api.slipway().whoAmI();
  const answer = await api.send('GET', '/metrics', { token: 'metrics-secret-of-some-length' });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  expect(answer.text).toMatch(
    /slipway_http_request_duration_seconds_count\{.*route="\/api\/v1\/whoami",status="200".*\} \d/,
  );
  expect((await api.send('GET', '/metrics')).status).toBe(200);
  expect((await api.send('GET', '/metrics', { token: null })).status).toBe(401);
  const { token } = await api.createTenant('curious');
  expect((await api.send('GET', '/metrics', { token })).status).toBe(403);
});

it('reports to the operator which processes live and what waits, as the database knows it', async () => {
  const show = async () => (await api.slipway().system()) as any;
  expect(await show()).toMatchObject({
    version,
    node_version: process.versions.node,
    retention_days: {
      events: 90,
      operations: 30,
      idempotency_keys: 30,
      tokens: 90,
      request_statistics: 14,
      request_usage: 35,
      context_passports: 1,
    },
    database: { version: expect.stringMatching(/^\d+/), latency_ms: expect.any(Number) },
    queue: {
      backend: 'postgres',
      outbox: { waiting: 0, oldest_seconds: null },
      operations: { due: 0, oldest_due_seconds: null, running: 0, asleep: 0 },
    },
    workers: [],
    gateways: [],
  });
  const [{ count, newest }] = (await owned(
    api,
    'select count(*)::int, (select name from schema_migrations order by timestamp desc limit 1) as newest from schema_migrations',
  )) as [any];
  expect((await show()).schema).toEqual({ applied: count, newest });

  const ids = [];
  for (const name of ['due', 'held', 'asleep', 'woken', 'over']) {
    await api.slipway().deployments.create({ name });
    const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };
    ids.push((await api.slipway().deployments.rollouts.create(name, { spec })).operation.id);
  }
  const [due, held, asleep, woken, over] = ids;
  const set = (change: string, id: string) => owned(api, `update operations set ${change} where id = $1`, [id]);
  await set(`updated_at = now() - interval '20 seconds', created_at = now() - interval '30 seconds'`, due!);
  await set(`status = 'running', lease_expires_at = now() + interval '1 minute'`, held!);
  await set(`status = 'waiting', wake_at = now() + interval '1 hour'`, asleep!);
  await set(`status = 'waiting', created_at = now() - interval '1 day'`, woken!);
  await set(`status = 'failed', completed_at = now()`, over!);
  await owned(api, `update outbox set not_before = now() + interval '1 hour' where operation_id <> $1`, [due]);
  await owned(api, `update outbox set not_before = now() - interval '40 seconds' where operation_id = $1`, [due]);
  const { queue } = await show();
  expect(queue.operations).toMatchObject({ due: 2, running: 1, asleep: 1 });
  expect(queue.outbox.waiting).toBe(1);
  expect(Math.floor(queue.operations.oldest_due_seconds / 10)).toBe(2);
  expect(Math.floor(queue.outbox.oldest_seconds / 10)).toBe(4);

  const beat = () => api.app.get(Schedule, { strict: false }).runNow('worker-beats');
  await beat();
  const [worker] = (await show()).workers;
  expect(worker).toMatchObject({ version, is_alive: true, started_at: worker.seen_at });
  await beat();
  expect((await show()).workers).toEqual([{ ...worker, seen_at: expect.any(String) }]);
  expect((await show()).workers[0].seen_at > worker.seen_at).toBe(true);
  await owned(api, `update system_workers set worker_id = 'wrk_silent', seen_at = now() - interval '20 seconds'`);
  await beat();
  expect((await show()).workers.map(({ id, is_alive }: any) => [id, is_alive])).toEqual([
    ['wrk_silent', false],
    [worker.id, true],
  ]);
  await owned(api, `update system_workers set seen_at = now() - interval '6 minutes' where worker_id = 'wrk_silent'`);
  await beat();
  expect((await show()).workers).toHaveLength(1);

  await owned(api, 'delete from dataplane_routes');
  await owned(
    api,
    `insert into dataplane_routes (deployment_id, tenant_id, deployment_name, generation, slots, targets, affinity)
     values ('dep_1', 'ten_x', 'a', 2, '{}', '[]', '{}'), ('dep_2', 'ten_x', 'b', 5, '{}', '[]', '{}'), ('dep_3', 'ten_x', 'c', 1, '{}', '[]', '{}')`,
  );
  await owned(api, `insert into dataplane_gateways (gateway_id, stats_until) values ('gw_1', '2026-01-01T00:00:00Z')`);
  await owned(
    api,
    `insert into dataplane_followed_routes (gateway_id, deployment_id, tenant_id, generation)
     values ('gw_1', 'dep_1', 'ten_x', 2), ('gw_1', 'dep_2', 'ten_x', 4), ('gw_1', 'dep_gone', 'ten_x', 1)`,
  );
  expect((await show()).gateways).toMatchObject([
    { id: 'gw_1', is_alive: true, routes: 2, routes_behind: 2, statistics_until: '2026-01-01T00:00:00.000Z' },
  ]);
  await owned(api, `update dataplane_gateways set seen_at = now() - interval '6 seconds'`);
  expect((await show()).gateways).toMatchObject([{ is_alive: false }]);
});

it('shows other tenants only the version', async () => {
  const { token } = await api.createTenant('outsider');
  const viewer = await api.createToken('viewer', token);
  const told = await api.slipway(viewer).system();
  expect(told).toMatchObject({ version, schema: null, database: null, queue: null, workers: null, gateways: null });
  expect(await api.slipway(await api.createToken('viewer')).system()).toMatchObject({ queue: { backend: 'postgres' } });
});

it('serves the OpenAPI document without a token', async () => {
  const { body } = await api.send('GET', '/openapi.json', { token: null });
  expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Slipway', version: '1.0.0' } });
});

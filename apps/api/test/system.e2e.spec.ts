import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '@slipway/platform-database';
import { bootApi, type TestApi } from './boot-api.js';

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

it('serves the OpenAPI document without a token', async () => {
  const { body } = await api.send('GET', '/openapi.json', { token: null });
  expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Slipway', version: '1.0.0' } });
});

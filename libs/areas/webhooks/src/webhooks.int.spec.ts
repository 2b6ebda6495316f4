import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WebhooksBed } from '../test/webhooks-bed.js';

let bed: WebhooksBed;

beforeAll(async () => {
  bed = await WebhooksBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const URL = 'https://hooks.example.com/slipway';

it('a new webhook shows its secret once and stores it sealed', async () => {
  const created = await bed.send('POST', '/webhooks', {
    body: { url: URL, event_types: ['rollout.*'], deployments: ['chat'], description: 'for us' },
  });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^whk_[0-9a-f]{32}$/),
    url: URL,
    description: 'for us',
    event_types: ['rollout.*'],
    deployments: ['chat'],
    state: 'active',
    disabled_reason: null,
    paused_until: null,
    previous_secret_until: null,
    etag: expect.stringMatching(/^"[\w-]{27}"$/),
    created_by: 'token:tok_1',
    created_at: expect.any(String),
    disabled_at: null,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { secret, ...shown } = created.body;
  const listed = (await bed.send('GET', '/webhooks')).body;
  expect(listed).toEqual({ data: [shown], next_cursor: null });
  const stored = await bed.database.read('system', 'select to_json(w)::text as text from webhooks w');
  expect(JSON.stringify(stored)).not.toContain(secret.slice(6));
});

it.each([
  ['http://hooks.example.com/', 'url_not_allowed'],
  ['http://10.0.0.1/', 'url_not_allowed'],
  ['https://10.0.0.1/', 'address_not_allowed'],
  ['https://127.0.0.1:8443/', 'address_not_allowed'],
  ['https://169.254.169.254/latest/meta-data', 'address_not_allowed'],
  ['https://[::1]/', 'address_not_allowed'],
  ['https://168.63.129.16/', 'address_not_allowed'],
  ['https://metadata.google.internal/', 'address_not_allowed'],
  // A name that resolves to loopback.
  ['https://localhost:8443/', 'address_not_allowed'],
  ['https://user:password@hooks.example.com/', 'userinfo_not_allowed'],
  ['https://0x7f.1/', 'host_not_canonical'],
  ['ftp://hooks.example.com/', 'scheme_not_allowed'],
  ['hooks', 'invalid_url'],
])('a webhook with the URL %s is refused', async (url, code) => {
  const { status, body } = await bed.send('POST', '/webhooks', { body: { url } });
  expect([status, body.error.code, body.error.details]).toEqual([
    422,
    'validation_failed',
    [{ field: 'url', code, message: expect.any(String) }],
  ]);
});

it('a webhook may have a name that has no address yet, or an address that the operator allows', async () => {
  expect((await bed.send('POST', '/webhooks', { body: { url: 'https://later.invalid/hook' } })).status).toBe(201);
  expect(
    (await bed.send('POST', '/webhooks', { tenant: 'ten_c', body: { url: 'http://127.0.0.1:9/hook' } })).status,
  ).toBe(201);
});

it('unknown event types are refused', async () => {
  const { status, body } = await bed.send('POST', '/webhooks', { body: { url: URL, event_types: ['rollout.*', '*'] } });
  expect([status, body.error.details[0].field]).toEqual([422, 'event_types[1]']);
});

it('a webhook is deleted with everything that belongs to it, once', async () => {
  const { id } = await bed.register({ url: URL }, 'ten_d');
  await bed.append('gone', ['deployment.created'], 'ten_d');
  const { status, body } = await bed.send('DELETE', `/webhooks/${id}`, { tenant: 'ten_d' });
  expect({ status, body }).toEqual({ status: 200, body: { id, state: 'deleted' } });
  const again = await bed.send('DELETE', `/webhooks/${id}`, { tenant: 'ten_d' });
  expect([again.status, again.body.error.code]).toEqual([404, 'webhook_not_found']);
  expect((await bed.send('GET', `/webhooks/${id}/deliveries`, { tenant: 'ten_d' })).status).toBe(404);
  const audit = await bed.database.read('system', 'select action from audit_log where resource_name = $1 order by id', [
    id,
  ]);
  expect(audit).toEqual([{ action: 'webhook.create' }, { action: 'webhook.delete' }]);
});

it('a tenant sees only its own webhooks', async () => {
  const { id } = await bed.register({ url: URL });
  for (const [method, path] of [
    ['GET', `/webhooks/${id}/deliveries`],
    ['DELETE', `/webhooks/${id}`],
  ] as const) {
    const foreign = await bed.send(method, path, { tenant: 'ten_b' });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'webhook_not_found']);
  }
  expect((await bed.send('GET', '/webhooks', { tenant: 'ten_b' })).body.data).toEqual([]);
  expect((await bed.send('GET', `/webhooks/${id}/deliveries`)).body).toEqual({ data: [], next_cursor: null });
});

it('a tenant may have a limited number of webhooks', async () => {
  for (let count = 0; count < 20; count += 1) await bed.register({ url: URL }, 'ten_e');
  const { status, body } = await bed.send('POST', '/webhooks', { tenant: 'ten_e', body: { url: URL } });
  expect([status, body.error]).toEqual([
    429,
    expect.objectContaining({ code: 'quota_exceeded', quota: 'webhooks', limit: 20 }),
  ]);
  const first = (await bed.send('GET', '/webhooks?limit=15', { tenant: 'ten_e' })).body;
  const second = (await bed.send('GET', `/webhooks?limit=15&cursor=${first.next_cursor}`, { tenant: 'ten_e' })).body;
  expect([first.data.length, second.data.length, second.next_cursor]).toEqual([15, 5, null]);
});

it('the limit holds if many webhooks are created at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => bed.send('POST', '/webhooks', { tenant: 'ten_f', body: { url: URL } })),
  );
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect([count(201), count(429)]).toEqual([20, 10]);
  expect((await bed.send('GET', '/webhooks?limit=200', { tenant: 'ten_f' })).body.data).toHaveLength(20);
});

import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Receiver } from '../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../test/webhooks-bed.js';

const URL = 'https://hooks.example.com/slipway';
/** A refused delivery waits longer than any test. A busy machine answers within the time-out. */
const PATIENT = { timeoutMs: 15_000, leaseMs: 25_000, retryDelaysMs: [600_000] };

let bed: WebhooksBed;
let receiver: Receiver;
let count = 0;
let tenant: string;
let chat: string;

beforeAll(async () => {
  bed = await WebhooksBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  count += 1;
  tenant = `ten_${count}`;
  chat = `chat-${count}`;
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await bed.idle();
});

const send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, rest: object = {}) =>
  bed.send(method, path, { tenant, ...rest });
const register = (body: object = {}) => bed.register({ url: receiver.url, ...body }, tenant);
const patch = (id: string, body: object, headers?: Record<string, string>) =>
  send('PATCH', `/webhooks/${id}`, { body, headers });
const append = (types: readonly string[], deployment = chat) => bed.append(deployment, types, tenant);
const types = () => receiver.received.map(({ event }) => event.type as string);
const statuses = async (id: string) =>
  (await bed.deliveries(id, tenant)).map(({ event_type: type, status }) => `${type} ${status}`);

describe('a webhook', () => {
  it('is read with an ETag, and not sent again to a client that has it', async () => {
    const { id } = await register();
    const { status, body, headers } = await send('GET', `/webhooks/${id}`);
    expect([status, headers['etag']]).toEqual([200, body.etag]);
    expect(JSON.stringify(body)).not.toContain('secret":"');
    const again = await send('GET', `/webhooks/${id}`, { headers: { 'if-none-match': body.etag } });
    expect([again.status, again.body]).toEqual([304, undefined]);
  });

  it('changes only in the fields of a patch, and null resets a field', async () => {
    const { id } = await register({ description: 'first', event_types: ['rollout.*'], deployments: [chat] });
    const before = (await send('GET', `/webhooks/${id}`)).body;
    const changed = await patch(id, { description: 'second', url: URL });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...before, description: 'second', url: URL, etag: expect.any(String) });
    expect(changed.headers['etag']).toBe(changed.body.etag);
    expect(changed.body.etag).not.toBe(before.etag);
    const reset = await patch(id, { description: null, event_types: null, deployments: null });
    expect(reset.body).toMatchObject({ description: null, event_types: [], deployments: [], url: URL });
    // The same values again are no change, and leave no audit row.
    expect((await patch(id, { url: URL, description: null })).body).toEqual(reset.body);
    expect((await patch(id, {})).body).toEqual(reset.body);
    expect(await bed.actions(id)).toEqual(['webhook.create', 'webhook.update', 'webhook.update']);
  });

  it('is changed and deleted only in the state that If-Match names', async () => {
    const { id } = await register();
    const { etag } = (await send('GET', `/webhooks/${id}`)).body;
    const headers = { 'if-match': '"other"' };
    for (const refused of [
      await patch(id, { description: 'x' }, headers),
      await send('DELETE', `/webhooks/${id}`, { headers }),
    ])
      expect([refused.status, refused.body.error.code]).toEqual([412, 'precondition_failed']);
    const changed = await patch(id, { description: 'x' }, { 'if-match': etag });
    expect(changed.status).toBe(200);
    expect((await send('DELETE', `/webhooks/${id}`, { headers: { 'if-match': etag } })).status).toBe(412);
    const deleted = await send('DELETE', `/webhooks/${id}`, { headers: { 'if-match': changed.body.etag } });
    expect(deleted.status).toBe(200);
  });

  it.each([
    [{ url: null }, 'url', 'required'],
    [{ url: 'http://10.0.0.1/' }, 'url', 'url_not_allowed'],
    [{ url: 'https://169.254.169.254/' }, 'url', 'address_not_allowed'],
    [{ event_types: ['*'] }, 'event_types[0]', 'enum'],
    [{ state: 'paused' }, 'state', 'enum'],
  ])('refuses the patch %j, before it compares the ETag', async (body, field, code) => {
    const { id } = await register();
    const refused = await patch(id, body, { 'if-match': '"other"' });
    expect([refused.status, refused.body.error.details]).toEqual([422, [expect.objectContaining({ field, code })]]);
    const unknown = await patch('whk_unknown', body);
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'webhook_not_found']);
    expect(await bed.actions(id)).toEqual(['webhook.create']);
  });

  it('sends events by its new filter from now on', async () => {
    const { id } = await register();
    await append(['route.updated']);
    await bed.worker();
    await until('the first', () => receiver.received.length === 1);
    await patch(id, { event_types: ['rollout.*'], deployments: [chat] });
    await append(['rollout.started'], `${chat}-other`);
    await append(['route.updated', 'rollout.promoted']);
    await until('the last', () => types().includes('rollout.promoted'));
    expect(types()).toEqual(['route.updated', 'rollout.promoted']);
  });

  it('sends waiting events to its new URL at once, and an open request to the old one changes nothing', async () => {
    const other = await Receiver.start();
    let answer = (): void => undefined;
    receiver.behave = ({ event }, response) => {
      if (event.type === 'rollout.started') response.writeHead(500).end();
      else answer = () => response.writeHead(410).end();
    };
    const { id } = await register();
    await bed.worker({ ...PATIENT, timeoutMs: 30_000, leaseMs: 45_000 });
    await append(['rollout.started', 'rollout.promoted']);
    await append(['route.updated'], `${chat}-other`);
    await until('both queues', () => receiver.received.length === 2);
    await until('the refusal', async () => (await bed.deliveries(id, tenant)).some(({ attempts }) => attempts === 1));
    await patch(id, { url: other.url });
    await until('the events of the queue that waited', () => other.received.length === 2);
    answer();
    await until('the event of the open request', () => other.received.length === 3);
    expect(other.received.map(({ event }) => event.type)).toEqual([
      'rollout.started',
      'rollout.promoted',
      'route.updated',
    ]);
    expect((await send('GET', `/webhooks/${id}`)).body.state).toBe('active');
    await other.stop();
  }, 30_000);

  it('that is disabled cancels what is pending, and begins again with the next event', async () => {
    receiver.behave = (_request, response) => response.writeHead(500).end();
    const { id } = await register();
    await bed.worker(PATIENT);
    await append(['rollout.started']);
    await until('the refusal', () => receiver.received.length === 1);
    const disabled = await patch(id, { state: 'disabled' });
    expect(disabled.body).toMatchObject({
      state: 'disabled',
      disabled_reason: 'requested',
      disabled_at: expect.any(String),
    });
    expect(await statuses(id)).toEqual(['rollout.started cancelled']);
    const [{ event_id: eventId }] = (await bed.deliveries(id, tenant)) as [{ event_id: string }];
    for (const verb of ['test', `deliveries/${eventId}/redeliver`]) {
      const refused = await send('POST', `/webhooks/${id}/${verb}`);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'webhook_disabled']);
    }
    await append(['rollout.promoted']);
    receiver.behave = (_request, response) => response.writeHead(204).end();
    const enabled = await patch(id, { state: 'active' });
    expect(enabled.body).toMatchObject({ state: 'active', disabled_reason: null, disabled_at: null });
    await append(['route.updated']);
    await until('the next event', () => receiver.received.length === 2);
    expect(types()).toEqual(['rollout.started', 'route.updated']);
    expect(await bed.actions(id)).toEqual(['webhook.create', 'webhook.disable', 'webhook.enable']);
    // An event of the time before can be requested.
    const again = await send('POST', `/webhooks/${id}/deliveries/${eventId}/redeliver`);
    expect([again.status, again.body]).toMatchObject([200, { status: 'pending' }]);
    await until(
      'the old event',
      () => receiver.received.length === 3,
      () => types(),
    );
  });

  it('of another tenant is not found', async () => {
    const { id } = await register();
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
      ['GET', '/deliveries/evt_1'],
    ] as const) {
      const foreign = await bed.send(method, `/webhooks/${id}${path}`, { tenant: 'ten_else', body: {} });
      expect([path, foreign.status, foreign.body.error.code]).toEqual([path, 404, 'webhook_not_found']);
    }
  });
});

describe('a rotated secret', () => {
  /** Returns which of the secrets have signed the last request, in the order of the header. */
  const signers = (secrets: Record<string, string>) => {
    const { headers, body } = receiver.received.at(-1)!;
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    return String(headers['webhook-signature'])
      .split(' ')
      .map((signature) => {
        const name = Object.keys(secrets).find((one) => {
          const key = Buffer.from(secrets[one]!.slice('whsec_'.length), 'base64');
          return signature === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
        });
        return name ?? signature;
      });
  };
  const rotate = (id: string, body?: object, headers?: Record<string, string>) =>
    send('POST', `/webhooks/${id}/rotate-secret`, { body, headers });
  let sent = 0;
  const next = async () => {
    const before = receiver.received.length;
    await append([`rollout.e${(sent += 1)}`]);
    await until('the next event', () => receiver.received.length > before);
  };
  const stored = async (id: string) => {
    const [row] = await bed.database.read<{ has: boolean }>(
      'system',
      'select sealed_previous_secret is not null as has from webhooks where id = $1',
      [id],
    );
    return row!.has;
  };

  it('signs together with the previous one until the overlap ends', async () => {
    const { id, secret: first } = await register();
    await bed.worker();
    const rotated = await rotate(id);
    expect([rotated.status, rotated.body]).toMatchObject([
      200,
      { id, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) },
    ]);
    const { secret: second, previous_secret_until: until_ } = rotated.body;
    expect(Math.abs(Date.parse(until_) - Date.now() - 86_400_000)).toBeLessThan(30_000);
    await next();
    expect(signers({ first, second })).toEqual(['second', 'first']);
    // A second rotation ends the oldest.
    const { secret: third } = (await rotate(id, { overlap_seconds: 600 })).body;
    expect(await stored(id)).toBe(true);
    await next();
    expect(signers({ first, second, third })).toEqual(['third', 'second']);
    await bed.database.read('system', `update webhooks set previous_secret_until = now() where id = $1`, [id]);
    await next();
    expect(signers({ first, second, third })).toEqual(['third']);
    expect((await send('GET', `/webhooks/${id}`)).body.previous_secret_until).toBeNull();
    await bed.runNow('webhook-retention');
    expect(await stored(id)).toBe(false);
    expect(await bed.actions(id)).toEqual(['webhook.create', 'webhook.rotate_secret', 'webhook.rotate_secret']);
  });

  it('replaces the previous one at once without an overlap', async () => {
    const { id, secret: first } = await register();
    const { secret: second, previous_secret_until: end } = (await rotate(id, { overlap_seconds: 0 })).body;
    await bed.worker();
    await next();
    expect([signers({ first, second }), end, await stored(id)]).toEqual([['second'], null, false]);
  });

  it('is used by a sender that is in the middle of a run', async () => {
    let go = (): void => undefined;
    receiver.behave = (_request, response) => {
      const answer = () => response.writeHead(204).end();
      if (receiver.received.length === 1) go = answer;
      else answer();
    };
    const { id } = await register();
    await append(['rollout.started', 'rollout.promoted']);
    await bed.worker({ ...QUICK, timeoutMs: 30_000, leaseMs: 45_000 });
    await until('the first', () => receiver.received.length === 1);
    const { secret: second } = (await rotate(id, { overlap_seconds: 0 })).body;
    go();
    await until('the second', () => receiver.received.length === 2);
    expect(signers({ second })).toEqual(['second']);
  });

  it('is shown once, also if the request is repeated with its key', async () => {
    const { id } = await register();
    const headers = { 'idempotency-key': 'k1' };
    const first = await rotate(id, { overlap_seconds: 60 }, headers);
    const second = await rotate(id, { overlap_seconds: 60 }, headers);
    expect(second.headers['idempotency-replayed']).toBe('true');
    const warnings = [expect.objectContaining({ code: 'secret_omitted', field: 'secret' })];
    expect(second.body).toEqual({ ...first.body, secret: null, warnings });
    const kept = await bed.database.read('system', 'select answer::text as text from idempotency_keys');
    expect(JSON.stringify(kept)).not.toContain('whsec_');
    expect((await rotate(id, { overlap_seconds: 61 }, headers)).body.error.code).toBe('idempotency_key_reused');
  });

  it.each([-1, 604_801])('refuses an overlap of %i s', async (seconds) => {
    const { id } = await register();
    const refused = await rotate(id, { overlap_seconds: seconds });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'overlap_seconds']);
  });
});

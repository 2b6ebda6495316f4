import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RequestGuard } from '@slipway/platform-http/auth';
import { errors, rawJson, type Principal, type RawJson, type RouteSpec, type Scope } from '@slipway/platform-http';
import { EventFeed, type FeedClient } from './event-feed.js';
import type { EventList } from './event-list.js';
import type { EventStreams, StreamRequest } from './event-stream.js';
import type { OpenAnswers } from './open-answers.js';
import { OpenStreamLimits } from './open-stream-limits.js';

/** The calls that the feed made to its parts. */
let opened: StreamRequest[];
let isTold: boolean;
let openFails: Error | undefined;
/** The result of the second check of the caller's credential. */
let authenticate: jest.Mock<() => Promise<Principal>>;
let feed: EventFeed;

const QUERY = { order: 'desc' as const };
const PAGE = { limit: 50 };
const ONE = { stream: 'deployment/x', operation: { id: 'op_1', hasEnded: async () => true } };
const WHOLE = { stream: 'deployment/x' };

beforeEach(() => {
  opened = [];
  isTold = false;
  openFails = undefined;
  authenticate = jest.fn(async () => principal());
  const list = { page: async (...about: unknown[]) => rawJson(JSON.stringify(about)) };
  const streams = {
    open: async (request: StreamRequest) => {
      if (openFails) throw openFails;
      opened.push(request);
    },
    isTold: async (_operation: unknown, sequence: number) => isTold && sequence >= 3,
  };
  feed = new EventFeed(
    list as unknown as EventList,
    streams as unknown as EventStreams,
    new OpenStreamLimits({
      operator: { quotas: { event_streams: 5, event_streams_per_token: 4, tenants: { big: { event_streams: 6 } } } },
      rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
      gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    }),
    { ready: async () => undefined } as unknown as OpenAnswers,
    { authenticate } as unknown as RequestGuard,
  );
});

function principal(options: Partial<Principal> = {}): Principal {
  return {
    tenantId: 'ten_1',
    tenantName: 'one',
    isOperatorTenant: false,
    actor: { type: 'token', id: 'tok_1' },
    scopes: new Set<Scope>(['viewer']),
    owner: { type: 'person', id: 'alice' },
    minters: [],
    ...options,
  };
}
function client(headers: Record<string, string | string[]> = {}, who: Principal | undefined = principal()): FeedClient {
  const route = { scope: 'viewer' } as RouteSpec;
  const slipway = { requestId: 'req', warnings: [], tenantId: who?.tenantId, principal: who, route };
  return { request: { headers, slipway }, reply: { is: 'the reply' } } as unknown as FeedClient;
}
const stream = (headers: Record<string, string | string[]> = {}) => client({ accept: 'text/event-stream', ...headers });

it('answers a page if no stream is requested, and sets vary to accept', async () => {
  for (const accept of [
    ...['application/json', '*/*', 'text/event-streams', 'x-text/event-stream'],
    ...['application/json, text/event-stream;q=0.5', 'text/event-stream;q=0, */*'],
  ]) {
    const answer = await feed.answer(WHOLE, QUERY, PAGE, client({ accept }));
    expect(answer).toMatchObject({ status: 200, headers: { vary: 'accept' } });
    expect(JSON.parse((answer!.body as RawJson).text)).toEqual(['ten_1', WHOLE, QUERY, PAGE]);
  }
  expect(opened).toEqual([]);
});

it.each([
  'text/event-stream',
  'TEXT/EVENT-STREAM;q=1',
  'application/json;q=0.5, text/event-stream ;q=0.6',
  'text/*',
  'a/b,text/event-stream,c/d',
])('opens a stream for accept: %s', async (accept) => {
  const answer = await feed.answer(WHOLE, { ...QUERY, after: 7, type: 'plan.approved' }, PAGE, client({ accept }));
  expect(answer).toBeUndefined();
  expect(opened).toMatchObject([
    {
      reply: { is: 'the reply' },
      tenantId: 'ten_1',
      source: WHOLE,
      types: ['plan.approved'],
      after: 7,
      tokenId: 'tok_1',
    },
  ]);
});

it('answers HEAD with the head of the stream, and opens none', async () => {
  const asked = stream();
  asked.request = { ...asked.request, method: 'HEAD' } as FeedClient['request'];
  const answer = await feed.answer(WHOLE, QUERY, PAGE, asked);
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  let isEnded: boolean | undefined;
  const lines = await feed.stream(asked, async (signal) => {
    signal.addEventListener('abort', () => (isEnded = true));
    return (async function* () {})();
  });
  expect(lines).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  expect([opened, isEnded]).toEqual([[], true]);
});

it('opens a stream without a token id for a caller without a token', async () => {
  const user = principal({ actor: { type: 'user', id: 'usr_1' } });
  await feed.answer(WHOLE, QUERY, PAGE, client({ accept: 'text/event-stream' }, user));
  expect(opened).toMatchObject([{ tokenId: undefined }]);
});

it('refuses a caller without a tenant', async () => {
  const nobody = client();
  nobody.request.slipway.tenantId = undefined;
  await expect(feed.answer(WHOLE, QUERY, PAGE, nobody)).rejects.toMatchObject({ status: 401 });
});

describe('Last-Event-ID', () => {
  it('takes precedence over `after`', async () => {
    await feed.answer(WHOLE, { ...QUERY, after: 7 }, PAGE, stream({ 'last-event-id': '9' }));
    await feed.answer(WHOLE, { ...QUERY, after: 7 }, PAGE, stream({ 'last-event-id': '0' }));
    await feed.answer(WHOLE, { ...QUERY, after: 7 }, PAGE, stream({ 'last-event-id': '' }));
    await feed.answer(WHOLE, QUERY, PAGE, stream());
    expect(opened.map((one) => one.after)).toEqual([9, 0, 7, undefined]);
  });

  it.each(['x', '-1', '1.5', '1e3', ' 1', '1234567890123456'])('is refused as %j', async (id) => {
    await expect(feed.answer(WHOLE, QUERY, PAGE, stream({ 'last-event-id': id }))).rejects.toMatchObject({
      status: 400,
      code: 'invalid_parameter',
    });
    expect(opened).toEqual([]);
  });

  it('is refused if it is sent twice', async () => {
    const twice = stream({ 'last-event-id': ['1', '2'] });
    await expect(feed.answer(WHOLE, QUERY, PAGE, twice)).rejects.toMatchObject({ status: 400 });
  });

  it('with the last event of an ended operation gets 204, so that the client does not connect again', async () => {
    isTold = true;
    const all = await feed.answer(ONE, QUERY, PAGE, stream({ 'last-event-id': '3' }));
    expect(all).toMatchObject({ status: 204, body: undefined });
    expect(opened).toEqual([]);
    // A client with less, one without the header, and one that follows more than the operation.
    await feed.answer(ONE, QUERY, PAGE, stream({ 'last-event-id': '2' }));
    await feed.answer(ONE, QUERY, PAGE, stream());
    await feed.answer(WHOLE, QUERY, PAGE, stream({ 'last-event-id': '3' }));
    expect(opened).toHaveLength(3);
  });
});

describe('the check whether a stream may stay open', () => {
  const ask = async () => {
    await feed.answer(WHOLE, QUERY, PAGE, stream());
    return opened[0]!.stillAllowed();
  };

  it('is made by the guard', async () => {
    expect(await ask()).toBe(true);
    expect(authenticate).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['now belongs to another tenant', principal({ tenantId: 'ten_2' })],
    ['has lost the scope of the route', principal({ scopes: new Set<Scope>() })],
  ])('fails for a caller who %s', async (_what, now) => {
    authenticate.mockResolvedValue(now);
    expect(await ask()).toBe(false);
  });

  it('fails if the credential is refused', async () => {
    authenticate.mockRejectedValueOnce(errors.unauthenticated());
    expect(await ask()).toBe(false);
    for (const refusal of [errors.scope_insufficient(), errors.rate_limited()]) {
      authenticate.mockRejectedValueOnce(refusal);
      expect(await opened[0]!.stillAllowed()).toBe(false);
    }
  });

  it('does not end the stream if the check itself fails', async () => {
    authenticate.mockRejectedValueOnce(new Error('Postgres is away'));
    expect(await ask()).toBe(true);
    authenticate.mockRejectedValueOnce(errors.idempotency_in_progress());
    expect(await opened[0]!.stillAllowed()).toBe(true);
  });

  it('needs no scope on a public route', async () => {
    authenticate.mockResolvedValue(principal({ scopes: new Set<Scope>() }));
    const open = stream();
    open.request.slipway.route = { scope: 'public' } as RouteSpec;
    await feed.answer(WHOLE, QUERY, PAGE, open);
    expect(await opened[0]!.stillAllowed()).toBe(true);
  });
});

describe('the number of open streams', () => {
  const come = (who: Partial<Principal> = {}) =>
    feed.answer(WHOLE, QUERY, PAGE, client({ accept: 'text/event-stream' }, principal(who)));
  const token = (id: string) => ({ actor: { type: 'token' as const, id } });
  const refused = (quota: string, limit: number) => ({
    status: 429,
    code: 'quota_exceeded',
    retryable: true,
    extra: { quota, limit },
  });

  it('is limited for a token, before anything is opened, until one ends', async () => {
    for (let n = 0; n < 4; n += 1) await come();
    await expect(come()).rejects.toMatchObject(refused('event_streams_per_token', 4));
    expect(opened).toHaveLength(4);
    // Another user of the tenant, and the same id of another kind of actor, are counted separately.
    await come({ actor: { type: 'user', id: 'tok_1' } });
    opened[0]?.onClose?.();
    // An end that is reported twice frees one stream only.
    opened[0]?.onClose?.();
    await come();
    await expect(come()).rejects.toMatchObject(refused('event_streams_per_token', 4));
  });

  it('is limited for a tenant, whatever its tokens', async () => {
    for (let n = 0; n < 5; n += 1) await come(token(`tok_${n}`));
    await expect(come(token('tok_9'))).rejects.toMatchObject(refused('event_streams', 5));
    for (let n = 0; n < 6; n += 1) await come({ ...token(`tok_${n}`), tenantId: 'ten_2', tenantName: 'big' });
    await expect(come({ ...token('tok_9'), tenantId: 'ten_2', tenantName: 'big' })).rejects.toMatchObject(
      refused('event_streams', 6),
    );
    opened[0]?.onClose?.();
    await come(token('tok_9'));
  });

  it('does not count a page, a refusal or a failure', async () => {
    openFails = errors.unavailable();
    for (let n = 0; n < 5; n += 1) await expect(come()).rejects.toMatchObject({ code: 'unavailable' });
    openFails = undefined;
    for (let n = 0; n < 5; n += 1) await feed.answer(WHOLE, QUERY, PAGE, client());
    for (let n = 0; n < 4; n += 1) await come();
    for (let n = 0; n < 5; n += 1) await expect(come()).rejects.toMatchObject(refused('event_streams_per_token', 4));
    for (const { onClose } of opened) onClose?.();
    const { ofActors, ofTenants } = (feed as unknown as { limits: Record<string, Map<string, number>> }).limits;
    expect([ofActors?.size, ofTenants?.size]).toEqual([0, 0]);
  });
});

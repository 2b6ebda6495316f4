import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RequestGuard } from '@slipway/platform-auth';
import { errors, rawJson, type Principal, type RouteSpec, type Scope } from '@slipway/platform-http';
import { EventFeed, type FeedClient } from './event-feed.js';
import type { EventList } from './event-list.js';
import type { EventStreams, StreamRequest } from './event-stream.js';

/** What the feed asked of its parts. */
let opened: StreamRequest[];
let isTold: boolean;
/** What asking for the caller's credential again gives. */
let authenticate: jest.Mock<() => Promise<Principal>>;
let feed: EventFeed;

const QUERY = { order: 'desc' as const };
const PAGE = { limit: 50 };
const ONE = { stream: 'deployment/x', operation: { id: 'op_1', hasEnded: async () => true } };
const WHOLE = { stream: 'deployment/x' };

beforeEach(() => {
  opened = [];
  isTold = false;
  authenticate = jest.fn(async () => principal());
  const list = { page: async (...about: unknown[]) => rawJson(JSON.stringify(about)) };
  const streams = {
    open: async (request: StreamRequest) => void opened.push(request),
    isTold: async (_operation: unknown, sequence: number) => isTold && sequence >= 3,
  };
  feed = new EventFeed(
    list as unknown as EventList,
    streams as unknown as EventStreams,
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
    ...options,
  };
}
function client(headers: Record<string, string | string[]> = {}, who: Principal | undefined = principal()): FeedClient {
  const route = { scope: 'viewer' } as RouteSpec;
  const slipway = { requestId: 'req', warnings: [], tenantId: who?.tenantId, principal: who, route };
  return { request: { headers, slipway }, reply: { is: 'the reply' } } as unknown as FeedClient;
}
const stream = (headers: Record<string, string | string[]> = {}) => client({ accept: 'text/event-stream', ...headers });

it('answers a page where no stream is asked for, and says what it depends on', async () => {
  for (const accept of ['application/json', '*/*', 'text/event-streams', 'x-text/event-stream']) {
    const answer = await feed.answer(WHOLE, QUERY, PAGE, client({ accept }));
    expect(answer).toMatchObject({ status: 200, headers: { vary: 'accept' } });
    expect(JSON.parse(answer!.body!.text)).toEqual(['ten_1', WHOLE, QUERY, PAGE]);
  }
  expect(opened).toEqual([]);
});

it.each([
  'text/event-stream',
  'TEXT/EVENT-STREAM;q=1',
  'application/json, text/event-stream ;q=0.5',
  'a/b,text/event-stream,c/d',
])('opens a stream for accept: %s', async (accept) => {
  const answer = await feed.answer(WHOLE, { ...QUERY, after: 7, type: 'x' }, PAGE, client({ accept }));
  expect(answer).toBeUndefined();
  expect(opened).toMatchObject([
    { reply: { is: 'the reply' }, tenantId: 'ten_1', source: WHOLE, type: 'x', after: 7, tokenId: 'tok_1' },
  ]);
});

it('knows no token of somebody who came without one', async () => {
  const user = principal({ actor: { type: 'user', id: 'usr_1' } });
  await feed.answer(WHOLE, QUERY, PAGE, client({ accept: 'text/event-stream' }, user));
  expect(opened).toMatchObject([{ tokenId: undefined }]);
});

it('refuses somebody without a tenant', async () => {
  const nobody = client();
  nobody.request.slipway.tenantId = undefined;
  await expect(feed.answer(WHOLE, QUERY, PAGE, nobody)).rejects.toMatchObject({ status: 401 });
});

describe('Last-Event-ID', () => {
  it('goes before `after`', async () => {
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

  it('is refused where it comes twice', async () => {
    const twice = stream({ 'last-event-id': ['1', '2'] });
    await expect(feed.answer(WHOLE, QUERY, PAGE, twice)).rejects.toMatchObject({ status: 400 });
  });

  it('tells a client that has everything of an ended operation not to come again', async () => {
    isTold = true;
    const all = await feed.answer(ONE, QUERY, PAGE, stream({ 'last-event-id': '3' }));
    expect(all).toMatchObject({ status: 204, body: undefined });
    expect(opened).toEqual([]);
    // One that has less, one that says nothing of it, and one that follows more than the operation.
    await feed.answer(ONE, QUERY, PAGE, stream({ 'last-event-id': '2' }));
    await feed.answer(ONE, QUERY, PAGE, stream());
    await feed.answer(WHOLE, QUERY, PAGE, stream({ 'last-event-id': '3' }));
    expect(opened).toHaveLength(3);
  });
});

describe('whether a stream may stay open', () => {
  const ask = async () => {
    await feed.answer(WHOLE, QUERY, PAGE, stream());
    return opened[0]!.stillAllowed();
  };

  it('is asked of the guard', async () => {
    expect(await ask()).toBe(true);
    expect(authenticate).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['is of another tenant now', principal({ tenantId: 'ten_2' })],
    ['has lost the scope of the route', principal({ scopes: new Set<Scope>() })],
  ])('is denied to a caller who %s', async (_what, now) => {
    authenticate.mockResolvedValue(now);
    expect(await ask()).toBe(false);
  });

  it('is denied where the credential is refused', async () => {
    authenticate.mockRejectedValueOnce(errors.unauthenticated());
    expect(await ask()).toBe(false);
    authenticate.mockRejectedValueOnce(errors.scope_insufficient());
    expect(await opened[0]!.stillAllowed()).toBe(false);
  });

  it('stays as it was while nobody can tell', async () => {
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

import { describe, expect, it } from '@jest/globals';
import type { QuotaSettings } from '@slipway/platform-config';
import { type Principal, type SlipwayError, type SlipwayReply, type SlipwayRequest } from '../index.js';
import { BearerAuthenticators, RequestGuard } from './request-guard.js';
import { withIncluded } from './token.service.js';

const authenticators = new BearerAuthenticators();
authenticators.add({
  accepts: (credential) => credential.startsWith('viewer'),
  authenticate: async (credential) => principal(credential, 'viewer'),
});
authenticators.add({ accepts: () => true, authenticate: async (credential) => principal(credential, 'admin') });

/** A credential such as `x@acme` belongs to the tenant acme. */
function principal(id: string, scope: string): Principal {
  const tenantName = id.split('@')[1] ?? 'acme';
  return {
    tenantId: tenantName === 'acme' ? 'ten' : `ten_${tenantName}`,
    tenantName,
    isOperatorTenant: false,
    actor: { type: 'token', id },
    scopes: withIncluded([scope]),
    owner: { type: 'person', id: 'alice' },
    minters: [],
  };
}

/** @param quotas of tenants, if a test is about them */
const guardOf = (
  readsPerMinute: number,
  mutationsPerMinute: number,
  quotas: QuotaSettings = { reads_per_minute: 0, mutations_per_minute: 0 },
): RequestGuard =>
  new RequestGuard(authenticators, {
    operator: { quotas },
    rateLimit: { readsPerMinute, mutationsPerMinute },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
  });

/**
 * Returns the guard's decision about a request: its refusal or `passes`, and the headers that report how much is left.
 */
async function check(
  guard: RequestGuard,
  credential: string | undefined,
  { method = 'GET', scope = 'viewer', header = credential && `Bearer ${credential}` } = {},
): Promise<{ outcome: string; headers: Record<string, string>; request: SlipwayRequest; refusal?: SlipwayError }> {
  let headers: Record<string, string> = {};
  const request = {
    method,
    headers: { authorization: header },
    slipway: { route: { scope }, logIds: {} },
  } as unknown as SlipwayRequest;
  const reply = { headers: (own: Record<string, string>) => void (headers = own) } as unknown as SlipwayReply;
  let refusal: SlipwayError | undefined;
  const outcome = await guard.check(request, reply).then(
    () => 'passes',
    (error: SlipwayError) => {
      refusal = error;
      return `${error.status} ${error.code}`;
    },
  );
  return { outcome, headers, request, refusal };
}
const outcomes = async (...checks: ReturnType<typeof check>[]): Promise<string[]> =>
  (await Promise.all(checks)).map(({ outcome }) => outcome);

it('records the caller in the context of the request', async () => {
  const { request } = await check(guardOf(0, 0), 'viewer-1');
  expect(request.slipway).toMatchObject({
    tenantId: 'ten',
    principal: { actor: { id: 'viewer-1' } },
    logIds: { tenant_id: 'ten' },
  });
});

it('checks first the identity, then the rate, then the scope', async () => {
  const guard = guardOf(1, 1);
  const post = { method: 'POST', scope: 'operator' };
  expect((await check(guard, undefined, post)).outcome).toBe('401 unauthenticated');
  // A request that is refused for its scope counts against the rate, so that a client cannot try without limit.
  expect((await check(guard, 'viewer-1', post)).outcome).toBe('403 scope_insufficient');
  const fast = await check(guard, 'viewer-1', post);
  expect([fast.outcome, fast.headers['ratelimit-remaining']]).toEqual(['429 rate_limited', '0']);
  // A client without an identity has no allowance, and cannot use up the allowance of others.
  for (let n = 0; n < 5; n += 1) expect((await check(guard, undefined, post)).outcome).toBe('401 unauthenticated');
  expect((await check(guard, 'admin-1', post)).outcome).toBe('passes');
});

it('requires the scope of the route, and none if the route is public', async () => {
  const guard = guardOf(0, 0);
  const as = async (credential: string): Promise<string[]> =>
    outcomes(...['public', 'viewer', 'operator', 'admin'].map((scope) => check(guard, credential, { scope })));
  expect(await as('admin-1')).toEqual(['passes', 'passes', 'passes', 'passes']);
  expect(await as('viewer-1')).toEqual(['passes', 'passes', '403 scope_insufficient', '403 scope_insufficient']);
});

it('counts GET and HEAD as reads and everything else as mutations, per actor', async () => {
  const guard = guardOf(2, 1);
  const asks = (credential: string, ...methods: string[]) =>
    outcomes(...methods.map((method) => check(guard, credential, { method })));
  expect(await asks('a', 'GET', 'HEAD', 'GET')).toEqual(['passes', 'passes', '429 rate_limited']);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect([method, await asks(`b-${method}`, method, method)]).toEqual([method, ['passes', '429 rate_limited']]);
  expect(await asks('a', 'POST')).toEqual(['passes']);
  const { headers } = await check(guard, 'c');
  expect(headers).toEqual({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '30' });
});

it('applies no limit and sends no rate headers if the limit is 0', async () => {
  for (const [guard, method] of [
    [guardOf(0, 1), 'GET'],
    [guardOf(1, 0), 'POST'],
  ] as const) {
    for (let n = 0; n < 50; n += 1) {
      const { outcome, headers } = await check(guard, 'a', { method });
      expect([outcome, headers]).toEqual(['passes', {}]);
    }
  }
});

it('tries authenticators in their order, and none if the header holds no bearer credential', async () => {
  const guard = guardOf(0, 0);
  const scopes = async (credential: string) => [
    ...((await check(guard, credential)).request.slipway.principal?.scopes ?? []),
  ];
  expect(await scopes('viewer-1')).toEqual(['viewer']);
  expect(await scopes('other')).toEqual(['viewer', 'operator', 'admin']);
  for (const header of ['', 'Bearer', 'Bearer ', 'Basic x', 'Bearer a b', 'xBearer a', 'Bearer é'])
    expect([header, (await check(guard, 'x', { header })).outcome]).toEqual([header, '401 unauthenticated']);
  for (const header of ['Bearer a', 'bearer a', 'BEARER   a'])
    expect([header, (await check(guard, 'x', { header })).outcome]).toEqual([header, 'passes']);
});

describe('the rate of a tenant', () => {
  const read = (guard: RequestGuard, credential: string) => check(guard, credential);

  it('limits all tokens of a tenant together, and no other tenant', async () => {
    const guard = guardOf(3, 0, { reads_per_minute: 4 });
    expect(await outcomes(read(guard, 'a'), read(guard, 'a'), read(guard, 'b'), read(guard, 'b'))).toEqual(
      Array(4).fill('passes'),
    );
    const refused = await read(guard, 'c');
    expect([refused.outcome, refused.refusal?.extra, refused.refusal?.message]).toEqual([
      '429 rate_limited',
      { quota: 'reads_per_minute', limit: 4 },
      'Tenant quota reads_per_minute exceeded: 4 requests a minute across all its tokens.',
    ]);
    expect(refused.headers).toEqual({ 'ratelimit-limit': '4', 'ratelimit-remaining': '0', 'ratelimit-reset': '60' });
    expect(refused.refusal?.headers).toEqual({ 'retry-after': '15' });
    expect((await read(guard, 'a@other')).outcome).toBe('passes');
  });

  it('charges neither the token nor the tenant for a request that the other refuses', async () => {
    const guard = guardOf(2, 0, { reads_per_minute: 3 });
    expect(await outcomes(read(guard, 'a'), read(guard, 'a'))).toEqual(['passes', 'passes']);
    // The token's limit refuses this request, so the tenant has one left for another token.
    const own = await read(guard, 'a');
    expect([own.refusal?.extra, own.headers['ratelimit-limit']]).toEqual([undefined, '2']);
    expect((await read(guard, 'b')).outcome).toBe('passes');
    // The tenant's limit refuses these requests, so the token keeps its allowance, as its own limiter shows.
    for (let n = 0; n < 5; n += 1) expect((await read(guard, 'c')).refusal?.extra).toMatchObject({ limit: 3 });
    const { ofToken } = (guard as unknown as { reads: { ofToken: { take(key: string): { remaining: number } } } })
      .reads;
    expect(ofToken.take('token:c').remaining).toBe(1);
  });

  it('is reported in the headers if it is tighter than the rate of the token', async () => {
    const guard = guardOf(10, 0, { reads_per_minute: 12 });
    const left = async (credential: string) => {
      const { headers } = await read(guard, credential);
      return [headers['ratelimit-limit'], headers['ratelimit-remaining']];
    };
    expect(await left('a')).toEqual(['10', '9']);
    for (let n = 0; n < 5; n += 1) await left('b');
    expect(await left('a')).toEqual(['12', '5']);
  });

  it('is four times the rate of a token by default, and configurable for one tenant or for all', async () => {
    const passes = async (guard: RequestGuard, tenant: string): Promise<number> => {
      for (let n = 0; n < 50; n += 1) {
        if ((await check(guard, `t${n}@${tenant}`, { method: 'POST' })).outcome !== 'passes') return n;
      }
      return Infinity;
    };
    expect(await passes(guardOf(0, 2, {}), 'acme')).toBe(8);
    const own = guardOf(0, 2, { mutations_per_minute: 5, tenants: { big: { mutations_per_minute: 20 } } });
    expect([await passes(own, 'acme'), await passes(own, 'big')]).toEqual([5, 20]);
    // 0 turns off both limits.
    expect(await passes(guardOf(2, 0, {}), 'acme')).toBe(Infinity);
    expect(await passes(guardOf(0, 2, { mutations_per_minute: 0 }), 'acme')).toBe(Infinity);
  });

  it('counts reads and mutations of a tenant separately', async () => {
    const guard = guardOf(0, 0, { reads_per_minute: 1, mutations_per_minute: 1 });
    const asks = (method: string) => check(guard, 'a', { method }).then(({ outcome }) => outcome);
    expect([await asks('GET'), await asks('POST'), await asks('GET')]).toEqual([
      'passes',
      'passes',
      '429 rate_limited',
    ]);
  });
});

import { expect, it } from '@jest/globals';
import { type Principal, type SlipwayError, type SlipwayReply, type SlipwayRequest } from '@slipway/platform-http';
import { BearerAuthenticators } from './bearer-authenticators.js';
import { RequestGuard } from './request-guard.js';
import { withIncluded } from './scopes.js';

const authenticators = new BearerAuthenticators();
authenticators.add({
  accepts: (credential) => credential.startsWith('viewer'),
  authenticate: async (credential) => principal(credential, 'viewer'),
});
authenticators.add({ accepts: () => true, authenticate: async (credential) => principal(credential, 'admin') });

function principal(id: string, scope: string): Principal {
  return {
    tenantId: 'ten',
    tenantName: 'acme',
    isOperatorTenant: false,
    actor: { type: 'token', id },
    scopes: withIncluded([scope]),
  };
}

const guardOf = (readsPerMinute: number, mutationsPerMinute: number): RequestGuard =>
  new RequestGuard(authenticators, { rateLimit: { readsPerMinute, mutationsPerMinute } });

/** What the guard made of a request: its refusal or `passes`, and the headers that say how much is left. */
async function check(
  guard: RequestGuard,
  credential: string | undefined,
  { method = 'GET', scope = 'viewer', header = credential && `Bearer ${credential}` } = {},
): Promise<{ outcome: string; headers: Record<string, string>; request: SlipwayRequest }> {
  let headers: Record<string, string> = {};
  const request = {
    method,
    headers: { authorization: header },
    slipway: { route: { scope }, logIds: {} },
  } as unknown as SlipwayRequest;
  const reply = { headers: (own: Record<string, string>) => void (headers = own) } as unknown as SlipwayReply;
  const outcome = await guard.check(request, reply).then(
    () => 'passes',
    (error: SlipwayError) => `${error.status} ${error.code}`,
  );
  return { outcome, headers, request };
}
const outcomes = async (...checks: ReturnType<typeof check>[]): Promise<string[]> =>
  (await Promise.all(checks)).map(({ outcome }) => outcome);

it('says who is calling to what comes after it', async () => {
  const { request } = await check(guardOf(0, 0), 'viewer-1');
  expect(request.slipway).toMatchObject({
    tenantId: 'ten',
    principal: { actor: { id: 'viewer-1' } },
    logIds: { tenant_id: 'ten' },
  });
});

it('refuses who is nobody first, then who is too fast, then who may not', async () => {
  const guard = guardOf(1, 1);
  const post = { method: 'POST', scope: 'operator' };
  expect((await check(guard, undefined, post)).outcome).toBe('401 unauthenticated');
  // A refusal for its scope counts as a request, so that nobody can try without end.
  expect((await check(guard, 'viewer-1', post)).outcome).toBe('403 scope_insufficient');
  const fast = await check(guard, 'viewer-1', post);
  expect([fast.outcome, fast.headers['ratelimit-remaining']]).toEqual(['429 rate_limited', '0']);
  // Whoever is nobody has no allowance to use up, and none that he could use up for others.
  for (let n = 0; n < 5; n += 1) expect((await check(guard, undefined, post)).outcome).toBe('401 unauthenticated');
  expect((await check(guard, 'admin-1', post)).outcome).toBe('passes');
});

it('asks for the scope of the route, or for none where it is public', async () => {
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

it('has no limit where it is 0, and says nothing of one', async () => {
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

it('asks the ways to recognise a credential in their order, and none for what is no bearer credential', async () => {
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

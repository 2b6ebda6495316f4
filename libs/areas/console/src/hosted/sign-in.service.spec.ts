import { randomBytes } from 'node:crypto';
import { BlockList } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { KeyRing } from '@slipway/platform-config';
import { errors, type SlipwayRequest } from '@slipway/platform-http';
import { ConsoleCookies } from '../sessions/console-cookies.js';
import type { NewSession } from '../sessions/console-sessions.js';
import { ProviderRefusal } from './provider-client.js';
import { returnPath, SignInService, type SignInStep } from './sign-in.service.js';

const config = { console: { isOn: true }, keyRing: new KeyRing(randomBytes(32)), trustedProxies: new BlockList() };
const answer = { bearers: ['access', 'identity'], userId: 'ada', refresh: 'r', bearerEndsAt: 1 };

let opened: NewSession[];
/** The error of the api for each of the provider's tokens. */
let refusals: Record<string, Error>;
let service: SignInService;
/** Number of begun sign-ins, and the states whose codes the provider accepts; undefined for all. */
let begun: number;
let genuine: Set<string> | undefined;
/** Requests that the provider checks now, and the most of them. */
let checking: { now: number; most: number };

/** @param endsAt of a sign-in that begins now, in milliseconds since 1970 */
function serve(endsAt = Date.now() + 60_000) {
  const provider = {
    isConfigured: true,
    begin: async (returnTo: string) => ({
      url: new URL('https://idp.example/'),
      handshake: { state: (begun += 1) === 1 ? 'state' : `state${begun}`, returnTo, endsAt },
    }),
    finish: async (_query: string, { state }: { state: string }) => {
      checking.now += 1;
      checking.most = Math.max(checking.most, checking.now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      checking.now -= 1;
      if (genuine && !genuine.has(state)) throw new ProviderRefusal('invalid_grant');
      return answer;
    },
  };
  const sessions = { open: async (session: NewSession) => (opened.push(session), { secret: 'secret' }) };
  const guard = {
    identify: async (bearer: string) => {
      if (refusals[bearer]) throw refusals[bearer];
    },
  };
  const parts = [config, new ConsoleCookies(config as never), sessions, provider, guard];
  service = new SignInService(...(parts as unknown as ConstructorParameters<typeof SignInService>));
}

beforeEach(() => {
  [opened, refusals, begun, genuine, checking] = [[], {}, 0, undefined, { now: 0, most: 0 }];
  serve();
});

const request = (url: string, cookie?: string, host = 'localhost') =>
  ({ ip: '127.0.0.1', raw: { url }, headers: { host, cookie } }) as unknown as SlipwayRequest;
const begin = () => service.begin(request('/console/sign-in'), '/deployments/chat');
const kept = ({ cookies }: SignInStep) => cookies[0]!.split(';')[0];
const finish = async (begun: SignInStep, state = 'state') =>
  service.finish(request(`/console/callback?state=${state}`, kept(begun)));

describe('a sign-in', () => {
  it('leads back to its start, with a session of the first valid token', async () => {
    refusals = { access: errors.unauthenticated() };
    expect((await finish(await begin())).location).toBe('/deployments/chat');
    expect(opened).toMatchObject([
      { method: 'hosted', who: 'user:ada', credentials: { bearer: 'identity', refresh: 'r' } },
    ]);
  });

  it('keeps nothing in the browser that the browser could read', async () =>
    expect(kept(await begin())).not.toMatch(/state|deployments/));

  it('belongs to the browser that began it', async () => {
    expect((await finish(await begin(), 'another')).location).toBe('/?sign_in=expired');
    expect((await service.finish(request('/console/callback?state=state'))).location).toBe('/?sign_in=expired');
    expect(opened).toEqual([]);
  });

  it('ends after its time limit', async () => {
    serve(Date.now() - 1);
    expect((await finish(await begin())).location).toBe('/?sign_in=expired');
    expect(opened).toEqual([]);
  });

  it('opens no session for a person without a grant', async () => {
    refusals = { access: errors.unauthenticated(), identity: errors.scope_insufficient() };
    expect((await finish(await begin())).location).toBe('/?sign_in=not_granted');
    expect(opened).toEqual([]);
  });

  it('succeeds during and after made-up ones from the same address, which reach the provider a few at a time', async () => {
    const begins = await Promise.all(Array.from({ length: 60 }, begin));
    genuine = new Set(['state30', 'state60']);
    const finished = begins.map((begun, n) => finish(begun, n === 0 ? 'state' : `state${n + 1}`));
    const locations = (await Promise.all(finished)).map(({ location }) => location);
    const at = (wanted: string) => locations.flatMap((location, n) => (location === wanted ? [n + 1] : []));
    expect(at('/deployments/chat')).toEqual([30, 60]);
    expect([at('/?sign_in=refused').length, at('/?sign_in=too_many').length]).toEqual([20, 38]);
    // A group may start while 31 run.
    expect(checking.most).toBeLessThanOrEqual(39);
  });

  it('leaves no line in the log if too many others wait already', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const begins = await Promise.all(Array.from({ length: 1_100 }, begin));
    const finished = await Promise.all(begins.map((begun, n) => finish(begun, n === 0 ? 'state' : `state${n + 1}`)));
    const refused = finished.filter(({ location }) => location === '/?sign_in=unavailable');
    expect(refused.length).toBeGreaterThan(0);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('answers only to its own host', async () =>
    expect(service.begin(request('/console/sign-in', undefined, 'evil.example'), '/')).rejects.toEqual(
      expect.objectContaining({ code: 'host_refused' }),
    ));
});

it.each([
  ['/deployments/chat?tab=a#b', '/deployments/chat?tab=a#b'],
  ['/a/../b', '/b'],
  ['/consoles', '/consoles'],
  ['/ä', '/%C3%A4'],
])('a sign-in leads to %s', (asked, path) => expect(returnPath(asked)).toBe(path));

it.each([
  undefined,
  ['/a', '/b'],
  'deployments',
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/\t/evil.example',
  ' //evil.example',
  'javascript:alert(1)',
  '/console/sign-in',
  '/api/v1/tokens',
  `/${'a'.repeat(2_000)}`,
  `/${'ä'.repeat(500)}`,
])('a sign-in leads home instead of to %p', (asked) => expect(returnPath(asked)).toBe('/'));

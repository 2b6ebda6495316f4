import { BlockList } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { errors, type SlipwayRequest } from '@slipway/platform-http';
import { ConsoleCookies, csrfOf, newSecret } from './console-cookies.js';
import { SessionService } from './session.service.js';

const secret = newSecret();
const session = { id: 's', method: 'token', secret, expiresAt: new Date(), credentials: { bearer: 'slw_1' } };
const config = { console: { isOn: true }, gateway: {}, identity: {}, trustedProxies: new BlockList() };

let ended: string[];
let isOpen: boolean;
let refusal: Error | undefined;
let service: SessionService;

beforeEach(() => {
  [ended, isOpen, refusal] = [[], true, undefined];
  const cookies = new ConsoleCookies(config as never);
  const lookup = { find: async () => (isOpen ? session : undefined) };
  const sessions = { end: async (id: string) => void ended.push(id) };
  const renewal = { credentialsOf: async () => session.credentials };
  const guard = {
    identify: async () => {
      if (refusal) throw refusal;
    },
  };
  service = new SessionService(
    ...([config, cookies, sessions, lookup, renewal, guard] as unknown as ConstructorParameters<typeof SessionService>),
  );
});

const request = (headers: Record<string, string> = {}) =>
  ({
    ip: '127.0.0.1',
    headers: { host: 'localhost', cookie: `slipway_console_session=${secret}`, ...headers },
  }) as unknown as SlipwayRequest;
const GONE = expect.stringContaining('slipway_console_session=; Max-Age=0;');

describe('a session', () => {
  it('is shown with its csrf text, and nothing of its bearer', async () => {
    const { answer, cookie } = await service.get(request());
    expect(answer).toMatchObject({ signed_in: true, csrf: csrfOf(secret) });
    expect(JSON.stringify(answer)).not.toContain('slw_1');
    expect([cookie, ended]).toEqual([undefined, []]);
  });

  it.each([errors.unauthenticated(), errors.scope_insufficient(), errors.rate_limited()])(
    'ends if its bearer is refused: %s',
    async (failure) => {
      refusal = failure;
      expect(await service.get(request())).toMatchObject({ answer: { signed_in: false }, cookie: GONE });
      expect(ended).toEqual(['s']);
    },
  );

  it('stays if it is unknown whether its bearer is valid', async () => {
    refusal = errors.unavailable();
    await expect(service.get(request())).rejects.toBe(refusal);
    expect(ended).toEqual([]);
  });

  it('ends at the server when a person signs out, and the cookie is removed', async () => {
    expect(await service.signOut(request())).toEqual(GONE);
    expect(ended).toEqual(['s']);
  });

  it('cannot be shown or ended by another person', async () => {
    const evil = request({ origin: 'http://evil.example' });
    const refused = expect.objectContaining({ code: 'origin_refused' });
    await expect(service.get(evil)).rejects.toEqual(refused);
    await expect(service.signOut(evil)).rejects.toEqual(refused);
    await expect(service.signIn(evil, 'slw_1')).rejects.toEqual(refused);
    expect(ended).toEqual([]);
  });
});

it('a cookie that belongs to no session is removed', async () => {
  isOpen = false;
  expect(await service.get(request())).toMatchObject({ answer: { signed_in: false }, cookie: GONE });
});

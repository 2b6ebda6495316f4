import { expect, it } from '@jest/globals';
import { errors, type SlipwayRequest } from '@slipway/platform-http';
import { ConsoleEntrance } from './console-entrance.js';
import { csrfOf, newSecret } from './sessions/console-cookies.js';

const secret = newSecret();
const session = { id: 's', secret, credentials: { bearer: 'slw_1' } };

/** @param cookie `known` is the cookie of the session */
function entering(method: string, headers: Record<string, string> = {}, cookie = 'known') {
  const lookup = {
    find: async (_: unknown, given: string) => (given === 'known' ? session : undefined),
    refusalOf: () => errors.unauthenticated(),
  };
  const renewal = { credentialsOf: async () => ({ bearer: 'renewed' }) };
  const entrance = new ConsoleEntrance({ console: { isOn: true } as never }, lookup as never, renewal as never);
  const request = { method, headers: { host: 'localhost', ...headers } } as unknown as SlipwayRequest;
  return entrance
    .credentialOf(request, cookie)
    .then(({ bearer, access }) => [bearer, ...access.map(({ values }) => values(false))]);
}
const entered = ['renewed', ['s']];
const refused = (code: string) => expect.objectContaining({ code });

it.each(['GET', 'HEAD'])('a read needs only the cookie: %s', async (method) =>
  expect(await entering(method)).toEqual(entered),
);

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'a change also needs the csrf text of its session: %s',
  async (method) => {
    expect(await entering(method, { 'x-csrf-token': csrfOf(secret) })).toEqual(entered);
    await expect(entering(method)).rejects.toEqual(refused('csrf_refused'));
    await expect(entering(method, { 'x-csrf-token': csrfOf(newSecret()) })).rejects.toEqual(refused('csrf_refused'));
  },
);

it('the entrance checks the origin of the page before it finds the session', async () => {
  await expect(entering('GET', { origin: 'http://evil.example' }, 'unknown')).rejects.toEqual(
    refused('origin_refused'),
  );
  await expect(entering('GET', {}, 'unknown')).rejects.toEqual(refused('unauthenticated'));
});

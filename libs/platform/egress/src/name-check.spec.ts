import { expect, it } from '@jest/globals';
import { Egress } from './egress.js';
import type { ResolveHost } from './guarded-dispatcher.js';

const WIDE = ['https://*:*'];
const at =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: 4 }));
const check = (url: string, resolve: ResolveHost, allow: string[] = WIDE) =>
  new Egress(() => allow, { resolve }).checkNow('acme', url);

it('a name that leads to loopback is refused when it is named, unless the operator names it', async () => {
  const url = 'https://hooks.example.com/a';
  expect(await check(url, at('127.0.0.1'))).toMatchObject({ ok: false, code: 'address_not_allowed' });
  expect(await check(url, at('127.0.0.1'), ['https://hooks.example.com'])).toMatchObject({ ok: true });
  expect(await check(url, at('8.8.8.8'))).toMatchObject({ ok: true });
  expect(await check('https://127.0.0.1/', at())).toMatchObject({ code: 'address_not_allowed' });
});

it('a name whose servers are silent passes after a second, and delays the next names by no more', async () => {
  const silent: ResolveHost = () => new Promise(() => undefined);
  const startedAt = performance.now();
  const slow = ['a', 'b', 'c', 'd', 'e'].map((name) => check(`https://${name}.example.com/`, silent));
  expect((await Promise.all(slow)).map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

import { expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config/load';
import { cacheSaltKey, cacheSaltMember } from './cache-salt.js';

const key = cacheSaltKey(new KeyRing(Buffer.alloc(32, 1)));

it('replaces a salt by the same one for the same tenant, model and value only', () => {
  const salt = (tenant: string, model: string, sent: string): string | undefined =>
    cacheSaltMember(key, tenant, model, sent)['cache_salt'];
  const mine = salt('t1', 'chat', 's');
  expect(mine).toMatch(/^"[\w-]{43}"$/);
  expect(salt('t1', 'chat', 's')).toBe(mine);
  const others = [
    salt('t2', 'chat', 's'),
    salt('t1', 'code', 's'),
    salt('t1', 'chat', 'S'),
    salt('t1', 'chat', JSON.parse(mine as string) as string),
    salt('t', '1chat', 's'),
    salt('t1,chat', '', 's'),
    cacheSaltMember(cacheSaltKey(new KeyRing(Buffer.alloc(32, 2))), 't1', 'chat', 's')['cache_salt'],
  ];
  expect(new Set([mine, ...others]).size).toBe(8);
});

it('adds none for a client that sends none', () => {
  for (const sent of [undefined, null]) expect(cacheSaltMember(key, 't1', 'chat', sent)).toEqual({});
});

import { hkdfSync, randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { passportId, passportKey, sessionKeyHash } from './passport.js';

it('gives a session one id per tenant and deployment, under a separate key', () => {
  const secret = new KeyRing(randomBytes(32));
  const key = passportKey(secret);
  const id = passportId(key, 'ten_1', 'dep_1', 'session');
  expect(id).toMatch(/^cp_[0-9a-f]{32}$/);
  expect(passportId(passportKey(secret), 'ten_1', 'dep_1', 'session')).toBe(id);
  expect(passportId(key, 'ten_2', 'dep_1', 'session')).not.toBe(id);
  expect(passportId(key, 'ten_1', 'dep_2', 'session')).not.toBe(id);
  expect(passportId(passportKey(new KeyRing(randomBytes(32))), 'ten_1', 'dep_1', 'session')).not.toBe(id);
  expect(sessionKeyHash(key, 'ten_1', 'session')).not.toContain(id.slice(3));
});

it('separates the parts of an id, so that shifted parts give another id', () => {
  const key = passportKey(new KeyRing(randomBytes(32)));
  const ids = [
    ['ten', 'dep', 'session'],
    ['tend', 'ep', 'session'],
    ['ten', 'deps', 'ession'],
    ['dep', 'ten', 'session'],
  ].map(([tenant, deployment, session]) => passportId(key, tenant!, deployment!, session!));
  expect(new Set(ids).size).toBe(ids.length);
});

it('stores a different hash of a session key for another tenant, and under another key', () => {
  const key = passportKey(new KeyRing(randomBytes(32)));
  const hash = sessionKeyHash(key, 'ten_1', 'session');
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(sessionKeyHash(key, 'ten_1', 'session')).toBe(hash);
  // Rows of two tenants must not reveal that both have a user of one name.
  expect(sessionKeyHash(key, 'ten_2', 'session')).not.toBe(hash);
  expect(sessionKeyHash(key, 'ten_1', 'session 2')).not.toBe(hash);
  expect(sessionKeyHash(passportKey(new KeyRing(randomBytes(32))), 'ten_1', 'session')).not.toBe(hash);
  expect(sessionKeyHash(key, 'ten_1s', 'ession')).not.toBe(hash);
});

it('derives a key for passports that opens nothing else', () => {
  const secret = randomBytes(32);
  const key = passportKey(new KeyRing(secret)).export();
  expect(key).not.toEqual(secret);
  // Pinned: a different derivation would start every session anew.
  expect(key).toEqual(Buffer.from(hkdfSync('sha256', secret, '', 'slipway context passport', 32)));
});

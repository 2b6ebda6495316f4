import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { passportId, passportKey, sessionKeyHash } from './passport.js';

it('gives a session one id per tenant and deployment, under a key of its own', () => {
  const secret = randomBytes(32);
  const key = passportKey(secret);
  const id = passportId(key, 'ten_1', 'dep_1', 'session');
  expect(id).toMatch(/^cp_[0-9a-f]{32}$/);
  expect(passportId(passportKey(secret), 'ten_1', 'dep_1', 'session')).toBe(id);
  expect(passportId(key, 'ten_2', 'dep_1', 'session')).not.toBe(id);
  expect(passportId(key, 'ten_1', 'dep_2', 'session')).not.toBe(id);
  expect(passportId(passportKey(randomBytes(32)), 'ten_1', 'dep_1', 'session')).not.toBe(id);
  expect(sessionKeyHash(key, 'ten_1', 'session')).not.toContain(id.slice(3));
});

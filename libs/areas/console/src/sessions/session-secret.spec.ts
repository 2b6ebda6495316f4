import { expect, it } from '@jest/globals';
import { csrfOf, isCsrfOf, newSecret, sessionIdOf } from './session-secret.js';

const secret = newSecret();

it('takes its own csrf text and no other, of whatever length', () => {
  expect(isCsrfOf(secret, csrfOf(secret))).toBe(true);
  for (const other of [
    csrfOf(newSecret()),
    '',
    csrfOf(secret).slice(1),
    `${csrfOf(secret)}a`,
    undefined,
    [csrfOf(secret)],
  ])
    expect(isCsrfOf(secret, other)).toBe(false);
});

it('is stored and shown as something that it cannot be made of', () => {
  const seen = [sessionIdOf(secret), csrfOf(secret)];
  for (const text of seen) expect(text).not.toContain(secret);
  expect(new Set([...seen, secret]).size).toBe(3);
});

it('is no secret unless it has the form of one', () => {
  for (const other of [undefined, '', secret.slice(1), `${secret}a`, `${secret.slice(1)}=`])
    expect(sessionIdOf(other)).toBeUndefined();
});

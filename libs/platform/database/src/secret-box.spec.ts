import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { openSecret, sealSecret, SecretBoxError } from './secret-box.js';

const key = randomBytes(32);

it('opens what it sealed, and never seals alike twice', () => {
  const sealed = sealSecret(key, 'sk-ünïcode', 'backend:rev_1');
  expect(openSecret(key, sealed, 'backend:rev_1')).toBe('sk-ünïcode');
  expect(sealed).not.toContain('sk-');
  expect(sealSecret(key, 'sk-ünïcode', 'backend:rev_1')).not.toBe(sealed);
  expect(openSecret(key, sealSecret(key, ''))).toBe('');
});

it('refuses another key, another context, a changed or truncated text', () => {
  const sealed = sealSecret(key, 'secret', 'a');
  expect(() => openSecret(randomBytes(32), sealed, 'a')).toThrow(SecretBoxError);
  expect(() => openSecret(key, sealed, 'b')).toThrow(SecretBoxError);
  const [version, nonce, body, tag] = sealed.split('.') as [string, string, string, string];
  const changed = Buffer.from(body, 'base64url');
  changed[0]! ^= 1;
  expect(() => openSecret(key, [version, nonce, changed.toString('base64url'), tag].join('.'), 'a')).toThrow(
    SecretBoxError,
  );
  expect(() => openSecret(key, [version, nonce, body, tag.slice(0, 6)].join('.'), 'a')).toThrow(SecretBoxError);
  expect(() => openSecret(key, 'plain text', 'a')).toThrow(SecretBoxError);
});

import { createCipheriv, randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { keyIdOf, openSecret, sealSecret, SecretBoxError } from './secret-box.js';

const key = randomBytes(32);
const ring = new KeyRing(key);

/** As versions before 0.2 wrote it. */
function sealedWithoutKeyId(secret: Buffer, plaintext: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  cipher.setAAD(Buffer.from(context));
  const box = [nonce, Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]), cipher.getAuthTag()];
  return ['v1', ...box.map((part) => part.toString('base64url'))].join('.');
}

it('opens what it sealed, and never seals the same way twice', () => {
  const sealed = sealSecret(ring, 'sk-ünïcode', 'backend:rev_1');
  expect(openSecret(ring, sealed, 'backend:rev_1')).toBe('sk-ünïcode');
  expect(sealed).not.toContain('sk-');
  expect(sealSecret(ring, 'sk-ünïcode', 'backend:rev_1')).not.toBe(sealed);
  expect(openSecret(ring, sealSecret(ring, '', 'a'), 'a')).toBe('');
});

it('refuses another key, another context, and a changed or truncated text', () => {
  const sealed = sealSecret(ring, 'secret', 'a');
  expect(() => openSecret(new KeyRing(randomBytes(32)), sealed, 'a')).toThrow(SecretBoxError);
  expect(() => openSecret(ring, sealed, 'b')).toThrow(SecretBoxError);
  const [version, id, nonce, body, tag] = sealed.split('.') as [string, string, string, string, string];
  const changed = Buffer.from(body, 'base64url');
  changed[0]! ^= 1;
  const others = [
    [version, id, nonce, changed.toString('base64url'), tag],
    [version, id, nonce, body, tag.slice(0, 6)],
    [version, id, nonce, body, tag, tag],
    [version, id, nonce, body],
    ['v1', id, nonce, body, tag],
    ['v3', id, nonce, body, tag],
    ['plain text'],
  ];
  for (const parts of others) expect(() => openSecret(ring, parts.join('.'), 'a')).toThrow(SecretBoxError);
});

it('writes the key’s id into the text, so that a ring opens texts of older keys and an error names a lost key', () => {
  const sealed = sealSecret(ring, 'secret', 'a');
  expect(sealed).toMatch(new RegExp(`^v2\\.${ring.current.id}\\.`));
  expect(keyIdOf(sealed)).toBe(ring.current.id);
  const rotated = new KeyRing(randomBytes(32), [randomBytes(32), key]);
  expect(openSecret(rotated, sealed, 'a')).toBe('secret');
  expect(keyIdOf(sealSecret(rotated, 'secret', 'a'))).toBe(rotated.current.id);
  expect(() => openSecret(new KeyRing(randomBytes(32)), sealed, 'a')).toThrow(ring.current.id);
});

it('opens a text without a key id with any key of the ring', () => {
  const sealed = sealedWithoutKeyId(key, 'secret', 'a');
  expect(keyIdOf(sealed)).toBeNull();
  expect(openSecret(new KeyRing(randomBytes(32), [key]), sealed, 'a')).toBe('secret');
  expect(() => openSecret(ring, sealed, 'b')).toThrow(SecretBoxError);
  expect(() => openSecret(new KeyRing(randomBytes(32)), sealed, 'a')).toThrow(SecretBoxError);
});

import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import type { KeyRing } from '@slipway/platform-config/load';

const VERSION = 'v2';
/** The version of texts that were sealed before keys had ids. */
const VERSION_WITHOUT_KEY_ID = 'v1';

/** The text was not made by `sealSecret` with a key of this ring and this context, or it was changed since. */
export class SecretBoxError extends Error {
  constructor(message = 'a stored secret cannot be decrypted with the configured keys') {
    super(message);
    this.name = 'SecretBoxError';
  }
}

/**
 * Encrypts a credential for storage (AES-256-GCM, random 96-bit nonce) under the ring's current key.
 * @param context names the owner of the secret; opening needs the same text, so that a ciphertext cannot be moved to
 * another row
 * @returns `v2.<key id>.<nonce>.<ciphertext>.<tag>`, the last three in base64url
 */
export function sealSecret({ current }: Pick<KeyRing, 'current'>, plaintext: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', current.secret, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  const box = [nonce, sealed, cipher.getAuthTag()].map((part) => part.toString('base64url'));
  return [VERSION, current.id, ...box].join('.');
}

/**
 * Returns the plaintext of `sealSecret`. @throws SecretBoxError for a key that is not in the ring, another context or a
 * changed text
 */
export function openSecret(keyRing: Pick<KeyRing, 'all' | 'byId'>, sealed: string, context: string): string {
  const keyId = keyIdOf(sealed);
  if (keyId === null) {
    for (const { secret } of keyRing.all()) {
      const opened = open(secret, sealed.split('.').slice(1), context);
      if (opened !== undefined) return opened;
    }
    throw new SecretBoxError();
  }
  const key = keyRing.byId(keyId);
  if (!key)
    throw new SecretBoxError(
      `a stored secret was sealed with key ${keyId}, which is neither SLIPWAY_SECRET_KEY nor among SLIPWAY_SECRET_KEYS_OLD`,
    );
  const opened = open(key.secret, sealed.split('.').slice(2), context);
  if (opened === undefined) throw new SecretBoxError();
  return opened;
}

/**
 * Returns the id of the key that sealed a text; null if it was sealed before keys had ids. @throws SecretBoxError for
 * any other text
 */
export function keyIdOf(sealed: string): string | null {
  const [version, keyId] = sealed.split('.');
  if (version === VERSION_WITHOUT_KEY_ID) return null;
  if (version !== VERSION || !keyId) throw new SecretBoxError();
  return keyId;
}

function open(key: KeyObject, box: readonly string[], context: string): string | undefined {
  const [nonce, ciphertext, tag, ...rest] = box;
  if (!nonce || ciphertext === undefined || !tag || rest.length > 0) return undefined;
  try {
    // The tag's length is fixed, because Node would otherwise accept a truncated, forgeable tag.
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

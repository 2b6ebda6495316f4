import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 'v1';

/** The text was not made by `sealSecret` with this key and context, or it was changed since. */
export class SecretBoxError extends Error {
  constructor() {
    super('a stored secret cannot be opened with this key');
    this.name = 'SecretBoxError';
  }
}

/**
 * Encrypts a credential for storage (AES-256-GCM, random 96-bit nonce).
 * @param key the key-encryption key of the configuration, 32 bytes
 * @param context what the secret belongs to; opening needs the same text, so that a row's ciphertext cannot be moved to another
 * @returns `v1.<nonce>.<ciphertext>.<tag>`, base64url
 */
export function sealSecret(key: Buffer, plaintext: string, context = ''): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return [
    VERSION,
    nonce.toString('base64url'),
    sealed.toString('base64url'),
    cipher.getAuthTag().toString('base64url'),
  ].join('.');
}

/** The plaintext of `sealSecret`. @throws SecretBoxError on a wrong key, context or a changed text. */
export function openSecret(key: Buffer, sealed: string, context = ''): string {
  const [version, nonce, ciphertext, tag, ...rest] = sealed.split('.');
  if (version !== VERSION || !nonce || ciphertext === undefined || !tag || rest.length > 0) throw new SecretBoxError();
  try {
    // The tag's length is fixed: Node would otherwise accept a truncated, forgeable one.
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretBoxError();
  }
}

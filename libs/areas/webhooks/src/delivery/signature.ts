import { createHmac, randomBytes } from 'node:crypto';

/** A secret is this prefix and the base64 of the signing key, as standard-webhooks.com writes it. */
export const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Binds a sealed secret to its webhook. */
export function sealContext(webhookId: string): string {
  return `webhook/${webhookId}`;
}

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * Returns the headers by which a receiver authenticates the sender, recognises a repetition (`webhook-id`) and refuses
 * an old delivery. With several secrets there is a signature of each, and a receiver accepts any that it can verify.
 * @param secrets the current one first
 * @param at seconds since 1970 of this attempt
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  at: number,
  body: string,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') };
}

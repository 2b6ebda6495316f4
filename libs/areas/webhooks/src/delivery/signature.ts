import { createHmac } from 'node:crypto';

/** A secret is this prefix and the base64 of the signing key, as standard-webhooks.com writes it. */
export const SECRET_PREFIX = 'whsec_';

/** Binds a sealed secret to its webhook. */
export function sealContext(webhookId: string): string {
  return `webhook/${webhookId}`;
}

/**
 * Returns the headers by which a receiver authenticates the sender, recognises a repetition (`webhook-id`) and refuses
 * an old delivery.
 * @param at seconds since 1970 of this attempt
 */
export function signatureHeaders(secret: string, id: string, at: number, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` };
}

import { randomBytes } from 'node:crypto';
import { tokenText, type TokenParts } from '@slipway/contracts';
import { newId } from '@slipway/platform-database';

/** A new token: its row's id, and the text that is shown once. The secret has 256 random bits. */
export function makeToken(): TokenParts & { text: string } {
  const parts = { id: newId('tok'), secret: randomBytes(32).toString('base64url') };
  return { ...parts, text: tokenText(parts) };
}

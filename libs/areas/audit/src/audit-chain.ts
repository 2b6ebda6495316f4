import { createHash } from 'node:crypto';
import { canonicalJson } from '@slipway/platform-database';
import { sealOf, type AuditKeys } from './audit-keys.js';
import type { AuditContent, AuditRow } from './audit-rows.js';

/** What the first row of a chain follows. */
export const GENESIS = '0'.repeat(64);

/** Where a chain stands. */
export interface Link {
  sequence: number;
  hash: string;
}

/**
 * SHA-256, in hex, over the hash before and the canonical JSON (RFC 8785) of the row with its sequence and without its
 * hashes. Anybody who has read a row from the API can compute it.
 */
export function hashOf(previousHash: string, content: AuditContent, sequence: number): string {
  const { id, tenant_id, at, actor, action, resource_type, resource_name, request_id, before_digest, after_digest } =
    content;
  const covered = {
    id,
    tenant_id,
    at,
    actor,
    action,
    resource_type,
    resource_name,
    request_id,
    before_digest,
    after_digest,
    // Absent where it says nothing: rows of before there were reads keep their hashes.
    ...(content.reads !== null && { reads: content.reads }),
    sequence,
  };
  return createHash('sha256')
    .update(previousHash + canonicalJson(covered))
    .digest('hex');
}

/** What is wrong with a row that should follow `previous`, sealed as that one is or better; undefined if it does. */
export function objectionTo(
  row: AuditRow,
  previous: Link & { isSealed: boolean },
  keys: AuditKeys,
): string | undefined {
  const expected = previous.sequence + 1;
  if (row.sequence !== expected)
    return row.sequence! > expected ? `row ${expected} is missing before it` : `its sequence should be ${expected}`;
  if (row.previous_hash !== previous.hash) return `it does not follow row ${previous.sequence}`;
  if (row.hash !== hashOf(previous.hash, row, expected)) return 'it was changed after it was sealed';
  if (row.key_id === null && row.seal === null)
    return previous.isSealed ? 'it has no seal, and the row before it has one' : undefined;
  const key = row.key_id === null ? undefined : keys.find(row.key_id);
  if (!key)
    return `its seal was made with the key ${row.key_id}, which is not the one given here (${keys.ids.join(', ')}): wrong SLIPWAY_SECRET_KEY, or it was rewritten`;
  if (row.seal !== sealOf(key, row.hash)) return 'its seal does not fit: it was rewritten by somebody without the key';
  return undefined;
}

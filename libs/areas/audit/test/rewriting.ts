import { createHash } from 'node:crypto';
import { canonicalJson } from '@slipway/platform-database';

/** The hash of a row as the documentation of the API tells it, by somebody who has nothing else. */
export function canonicalHash(previous: string, row: Record<string, unknown>): string {
  const { previous_hash: _previous, hash: _hash, key_id: _keyId, seal: _seal, reads, ...covered } = row;
  return createHash('sha256')
    .update(previous + canonicalJson({ ...covered, ...(reads !== null && { reads: Number(reads) }) }))
    .digest('hex');
}

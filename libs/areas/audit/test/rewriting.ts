import { createHash } from 'node:crypto';
import { canonicalJson } from '@slipway/platform-database';

/** Computes the hash of a row as an outsider would, from the documentation of the API alone. */
export function canonicalHash(previous: string, row: Record<string, unknown>): string {
  const { previous_hash: _previous, hash: _hash, key_id: _keyId, seal: _seal, reads, ...covered } = row;
  return createHash('sha256')
    .update(previous + canonicalJson({ ...covered, ...(reads !== null && { reads: Number(reads) }) }))
    .digest('hex');
}

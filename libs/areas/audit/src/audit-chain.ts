import { createHash } from 'node:crypto';
import {
  auditHashText,
  auditLinkFault,
  isAuditRowChanged,
  type AuditChainLink,
  type AuditLinkFault,
} from '@slipway/contracts';
import { sealOf, type AuditKeys } from './audit-keys.js';
import { shownAuditRow, type AuditRow } from './audit-rows.js';

/**
 * Returns the SHA-256, in hex, of a row at this position. The API shows everything that the hash covers, so every
 * reader of a row can compute it.
 */
export function hashOf(previousHash: string, row: AuditRow, sequence: number): string {
  return createHash('sha256')
    .update(auditHashText({ ...shownAuditRow(row), sequence, previous_hash: previousHash }))
    .digest('hex');
}

const LINK_PROBLEMS: Record<AuditLinkFault, (previous: number) => string> = {
  missing: (previous) => `row ${previous + 1} is missing before it`,
  misnumbered: (previous) => `its sequence should be ${previous + 1}`,
  unlinked: (previous) => `it does not follow row ${previous}`,
};

/**
 * Returns the reason why a row cannot follow `previous`. Returns undefined if it follows, and if its seal is at least
 * as strong as the seal of `previous`.
 */
export function objectionTo(
  row: AuditRow,
  previous: AuditChainLink & { isSealed: boolean },
  keys: AuditKeys,
): string | undefined {
  const fault = auditLinkFault(row, previous);
  if (fault) return LINK_PROBLEMS[fault](previous.sequence);
  if (isAuditRowChanged(row, hashOf(previous.hash, row, previous.sequence + 1)))
    return 'it was changed after it was sealed';
  if (row.key_id === null && row.seal === null)
    return previous.isSealed ? 'it has no seal, and the row before it has one' : undefined;
  const key = row.key_id === null ? undefined : keys.find(row.key_id);
  if (!key)
    return `its seal was made with the key ${row.key_id}, which is not configured here (${keys.ids.join(', ')}): SLIPWAY_SECRET_KEY is wrong, or the row was rewritten`;
  if (row.seal !== sealOf(key, row.hash!)) return 'its seal does not match: it was rewritten without the key';
  return undefined;
}

import { createHmac, type KeyObject } from 'node:crypto';
import type { PassportRow } from '@slipway/dataplane';
import type { PassportDto } from './passport.dto.js';

/**
 * Returns a passport as users see it at `now`. Instances are visible only to the operator, so the target is a keyed
 * hash.
 */
export function passportAnswer(row: PassportRow, key: KeyObject, now: Date): PassportDto {
  const state = stateOf(row, now);
  // An affinity that gateways no longer use must not be shown as valid.
  const isBound = state === 'active';
  return {
    id: row.id,
    state,
    session: { key_hash: row.key_hash, source: row.source },
    subject: row.subject,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    affinity: {
      guarantee: 'best_effort',
      mode: row.mode,
      deployment: row.deployment_name,
      revision: isBound ? row.revision_name : null,
      target: isBound && row.instance_id !== null ? opaque(key, row.tenant_id, row.instance_id) : null,
      bound_at: isBound ? (row.bound_at?.toISOString() ?? null) : null,
      ttl_seconds: row.ttl_seconds,
    },
    stats: {
      requests: count(row.requests),
      hits: count(row.hits),
      misses: count(row.misses),
      rebinds: count(row.rebinds),
      last_rebind_reason: row.last_rebind_reason,
    },
  };
}

export function stateOf(
  { revoked_at, expires_at }: Pick<PassportRow, 'revoked_at' | 'expires_at'>,
  now: Date,
): 'active' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked';
  return expires_at <= now ? 'expired' : 'active';
}

function opaque(key: KeyObject, tenantId: string, instanceId: string): string {
  return `tgt_${createHmac('sha256', key).update(`target\0${tenantId}\0${instanceId}`).digest('hex').slice(0, 16)}`;
}

/** Gateways correct their counts by deltas, which may arrive one batch apart. */
function count(value: number): number {
  return Math.max(0, value);
}

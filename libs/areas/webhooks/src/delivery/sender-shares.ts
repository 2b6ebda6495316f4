import type { DeliveryQueueRow } from './delivery-queue.query.js';

/** Lanes that one process sends at once. */
export const MAX_SENDS = 16;
const QUARTER = Math.max(1, Math.floor(MAX_SENDS / 4));
/** Of one server, whoever registered it: tenants share the well-known ones, and an outage there must leave the others their slots. */
const MAX_SENDS_PER_RECEIVER = MAX_SENDS - QUARTER;

/** Whose lanes a claim leaves alone. */
export interface ClaimExclusions {
  tenants?: readonly string[];
  webhooks?: readonly string[];
  receivers?: readonly string[];
}

type ActiveSend = Pick<DeliveryQueueRow, 'tenant_id' | 'webhook_id' | 'receiver'>;

/**
 * The claims to try for a free slot, in this order. A receiver that lets us wait keeps a slot for a turn, so:
 * - nobody below a quarter of the slots waits for a tenant that has a quarter: the first claim is theirs alone;
 * - a tenant takes no more slots than it leaves free, so that whoever comes next finds one. Where many slow tenants have taken all, the
 *   next slot that falls free is for one who holds none;
 * - a webhook holds a quarter at most, for the sake of the tenant's others.
 *
 * What is held is counted here and not by leases in Postgres: a slot is a process's own, and where each process keeps its quarter, so
 * do all of them together. A lease that was lost still takes a slot until its request ends.
 */
export function claimsFor(sent: readonly ActiveSend[]): ClaimExclusions[] {
  const free = MAX_SENDS - sent.length;
  const webhooks = withAtLeast(QUARTER, sent, 'webhook_id');
  const receivers = withAtLeast(MAX_SENDS_PER_RECEIVER, sent, 'receiver');
  const first = withAtLeast(Math.min(QUARTER, free), sent, 'tenant_id');
  const second = withAtLeast(free, sent, 'tenant_id');
  const claims = second.length < first.length ? [first, second] : [first];
  return claims.map((tenants) => ({ tenants, webhooks, receivers }));
}

function withAtLeast(least: number, sent: readonly ActiveSend[], key: keyof ActiveSend): string[] {
  const counts = new Map<string, number>();
  for (const lane of sent) counts.set(lane[key], (counts.get(lane[key]) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= least).map(([name]) => name);
}

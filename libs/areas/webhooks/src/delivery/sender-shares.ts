import type { DeliveryQueueRow } from './delivery-queue.query.js';

/** Queues that one process sends from at the same time: its senders. */
export const MAX_SENDS = 16;
const QUARTER = Math.max(1, Math.floor(MAX_SENDS / 4));
/** Of one server, whoever registered it: tenants share the well-known ones, and an outage there must leave the others their senders. */
const MAX_SENDS_PER_RECEIVER = MAX_SENDS - QUARTER;

/** Whose queues a claim leaves alone. */
export interface ClaimExclusions {
  tenants?: readonly string[];
  webhooks?: readonly string[];
  receivers?: readonly string[];
}

type ActiveSend = Pick<DeliveryQueueRow, 'tenant_id' | 'webhook_id' | 'receiver'>;

/**
 * The claims to try for a free sender, in this order. A receiver that lets us wait keeps a sender busy for a run, so:
 * - nobody below a quarter of the senders waits for a tenant that has a quarter: the first claim is theirs alone;
 * - a tenant takes no more senders than it leaves free, so that whoever comes next finds one. Where many slow tenants have taken all, the
 *   next sender that becomes free is for a tenant that has none;
 * - a webhook has a quarter at most, for the sake of the tenant's others.
 *
 * Busy senders are counted here and not by leases in Postgres: a sender is a process's own, and where each process keeps its quarter, so
 * do all of them together. A lease that was lost still takes a sender until its request ends.
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
  for (const queue of sent) counts.set(queue[key], (counts.get(queue[key]) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= least).map(([name]) => name);
}

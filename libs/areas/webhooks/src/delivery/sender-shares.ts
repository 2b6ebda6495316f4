import type { DeliveryQueueRow } from './delivery-queue.query.js';

/** Queues that one process sends from at the same time: its senders. */
export const MAX_SENDS = 16;
const QUARTER = Math.max(1, Math.floor(MAX_SENDS / 4));
/**
 * Limit per server, over all tenants: they share the well-known ones, and an outage there must leave senders for the
 * others.
 */
const MAX_SENDS_PER_RECEIVER = MAX_SENDS - QUARTER;

/** The tenants, webhooks and receivers whose queues a claim skips. */
export interface ClaimExclusions {
  tenants?: readonly string[];
  webhooks?: readonly string[];
  receivers?: readonly string[];
}

type ActiveSend = Pick<DeliveryQueueRow, 'tenant_id' | 'webhook_id' | 'receiver'>;

/**
 * Returns the claims to try for a free sender, in this order. A receiver that is slow to answer keeps a sender busy for
 * a run, so:
 * - A tenant below a quarter of the senders never waits for a tenant that has a quarter: the first claim excludes
 *   those.
 * - A tenant takes no more senders than it leaves free, so that the next tenant finds one. If many slow tenants have
 *   taken all, the next free sender is for a tenant that has none.
 * - A webhook has a quarter at most, so that the tenant's other webhooks get senders.
 *
 * Busy senders are counted here and not by leases in Postgres: each process has its own senders. If each process keeps
 * its quarter free, so do all of them together. A lost lease still takes a sender until its request ends.
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

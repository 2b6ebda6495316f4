import type { OperationPriority } from '../define/operation.definition.js';

/** An operation that this process runs now. */
export interface RunningOperation {
  tenantId: string;
  priority: OperationPriority;
}

/** A worker's request to Postgres: the longest due first, of these priorities, but none of these tenants. */
export interface ClaimRequest {
  /** Operations of the priority `outbound` are requested by `outboundLimit`. */
  priorities: readonly Exclude<OperationPriority, 'outbound'>[];
  limit: number;
  skip: readonly string[];
  /** At most so many of the limit have the priority `outbound`; 0 for none. */
  outboundLimit: number;
  /** Tenants whose operations of the priority `outbound` are left out. */
  skipOutbound: readonly string[];
}

/**
 * Slots in addition to the others that only the priority `urgent` may take, so that a rollback finds one even if
 * everything hangs.
 */
const URGENT_SLOTS = 2;
/** The share of the slots that may wait for hosts outside at a time. */
const OUTBOUND_SHARE = 1 / 4;
/**
 * In a priority, a tenant takes at most so many times the slots that it leaves free, so that the next tenant always
 * finds some.
 */
const TIMES_FREE: Readonly<Record<OperationPriority, number>> = { urgent: 8, ordinary: 3, outbound: 1 };

/**
 * Returns what to request, in this order, given what runs. Alone, a tenant gets three quarters of the slots; each
 * further tenant gets its share of the rest. Neither many operations of one tenant nor a host outside that hangs keep
 * the operations of another tenant from starting.
 * @param concurrency slots of this process
 */
export function claimRequests(running: readonly RunningOperation[], concurrency: number): ClaimRequest[] {
  const outbound = running.filter(({ priority }) => priority === 'outbound');
  const free = concurrency - running.length;
  const freeOutbound = Math.min(free, Math.max(1, Math.floor(concurrency * OUTBOUND_SHARE)) - outbound.length);
  const ordinaryShare = shareOf(running, free, TIMES_FREE.ordinary);
  const outboundShare = shareOf(outbound, freeOutbound, TIMES_FREE.outbound);
  const requests: ClaimRequest[] = [];
  if (free <= 0 || ordinaryShare.skip.length > 0) {
    const urgentShare = shareOf(running, free + URGENT_SLOTS, TIMES_FREE.urgent, true);
    if (urgentShare.limit > 0)
      requests.push({
        priorities: ['urgent'],
        limit: urgentShare.limit,
        skip: urgentShare.skip,
        outboundLimit: 0,
        skipOutbound: [],
      });
  }
  if (free > 0)
    requests.push({
      priorities: ['urgent', 'ordinary'],
      limit: ordinaryShare.limit,
      skip: ordinaryShare.skip,
      outboundLimit: Math.min(ordinaryShare.limit, outboundShare.limit),
      skipOutbound: outboundShare.skip,
    });
  return requests;
}

/**
 * Returns the tenants that have their share, and how many slots any other tenant may take at once without exceeding its
 * share.
 * @param isLastForOthers whether the last slot is for a tenant that has none, also where there are few slots
 */
function shareOf(
  running: readonly RunningOperation[],
  free: number,
  timesFree: number,
  isLastForOthers = false,
): { skip: string[]; limit: number } {
  if (free <= 0) return { skip: [], limit: 0 };
  const held = new Map<string, number>();
  for (const { tenantId } of running) held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
  const skip: string[] = [];
  let most = 0;
  for (const [tenantId, slots] of held) {
    if (slots >= timesFree * free || (isLastForOthers && free === 1)) skip.push(tenantId);
    else most = Math.max(most, slots);
  }
  // The last of these slots is taken while `most + limit - 1 < timesFree * (free - limit + 1)`.
  const limit = Math.ceil((timesFree * (free + 1) + 1 - most) / (timesFree + 1)) - 1;
  return { skip, limit: Math.min(isLastForOthers ? free - 1 : free, limit) || 1 };
}

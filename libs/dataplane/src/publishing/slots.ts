import { hash } from 'node:crypto';

/** The number of slots of a route: each slot belongs to one revision, and a weight is a number of slots. */
export const SLOT_COUNT = 100;

export interface WeightedRevision {
  revisionId: string;
  /** 0..100, whole. 0 means that the route knows it and sends it no traffic. */
  weight: number;
}

/**
 * Assigns each of the 100 slots to a revision, and changes as few slots of the previous generation as the weights
 * allow. A session's slot never changes, so as few sessions as possible change revision. Deterministic: equal arguments
 * give equal slots.
 * @param previous the slots of the previous generation (revision ids), or an empty list for a first route
 * @returns 100 revision ids
 * @throws RangeError if the weights are not whole numbers of 0..100 that sum to 100, or a revision is listed twice
 */
export function assignSlots(previous: readonly string[], revisions: readonly WeightedRevision[]): string[] {
  const open = openSlots(revisions);
  const slots = new Array<string | undefined>(SLOT_COUNT).fill(undefined);
  for (let slot = 0; slot < Math.min(previous.length, SLOT_COUNT); slot += 1) {
    const owner = previous[slot] as string;
    const left = open.get(owner) ?? 0;
    if (left === 0) continue;
    slots[slot] = owner;
    open.set(owner, left - 1);
  }
  const waiting = revisions.flatMap(({ revisionId }) =>
    new Array<string>(open.get(revisionId) as number).fill(revisionId),
  );
  let next = 0;
  return slots.map((owner) => owner ?? (waiting[next++] as string));
}

/**
 * Returns the slot of a session, 0..99. Equal arguments give the same slot on every gateway and at every time.
 * NUL separates the parts: ids of tenants and deployments cannot contain it, so no two sessions have the same text.
 */
export function slotOf(tenantId: string, deploymentId: string, session: string): number {
  const digest = hash('sha256', `${tenantId}\0${deploymentId}\0${session}`, 'buffer');
  return digest.readUInt32BE(0) % SLOT_COUNT;
}

function openSlots(revisions: readonly WeightedRevision[]): Map<string, number> {
  const open = new Map<string, number>();
  let sum = 0;
  for (const { revisionId, weight } of revisions) {
    if (!Number.isInteger(weight) || weight < 0 || weight > SLOT_COUNT)
      throw new RangeError(`the weight of ${revisionId} is not a whole number from 0 to 100`);
    if (open.has(revisionId)) throw new RangeError(`${revisionId} is listed twice in the route`);
    open.set(revisionId, weight);
    sum += weight;
  }
  if (sum !== SLOT_COUNT) throw new RangeError(`the weights sum to ${sum}, not to 100`);
  return open;
}

import type { Operation, OperationStep } from '@slipway/sdk';

export type { Operation };

const ENDED = ['succeeded', 'failed', 'cancelled'];
/** Work that no worker has picked up for so long waits for one that is not there. */
const UNCLAIMED_MS = 10_000;

export const isLive = ({ status }: Pick<Operation, 'status'>): boolean => !ENDED.includes(status);

/** What goes on, else what went on last. */
export const shownOperation = (operations: readonly Operation[]): Operation | undefined =>
  operations.find(isLive) ?? operations[0];

/** `step 4 of 12`: where it stands, counted as people do. */
export function stepPositionOf({ steps, current_step }: Operation): { n: number; of: number } {
  const index = steps.findIndex(({ name }) => name === current_step);
  return { n: Math.max(0, index) + 1, of: steps.length };
}

/** How long a step took, or has taken so far; null where it has not begun. */
export function stepMs({ started_at, completed_at }: OperationStep, now: number): number | null {
  if (!started_at) return null;
  return Math.max(0, (completed_at ? Date.parse(completed_at) : now) - Date.parse(started_at));
}

/** When it goes on by itself, in ms: the end of a soak, or the next try. Null where it does not wait for a time. */
export function resumeMs(operation: Operation): number | null {
  if (!isLive(operation) || waitsForPerson(operation) || !operation.resume_at) return null;
  return Date.parse(operation.resume_at);
}

/** Whether it stands still until a person says something: an approval, or a gate that could not decide. */
export const waitsForPerson = ({ status, awaiting }: Pick<Operation, 'status' | 'awaiting'>): boolean =>
  status === 'waiting' && awaiting !== null;

/** How long nobody has picked it up, where that is too long. */
export function unclaimedMs({ status, attempt, updated_at }: Operation, now: number): number | null {
  const waited = now - Date.parse(updated_at);
  return status === 'pending' && attempt === 0 && waited > UNCLAIMED_MS ? waited : null;
}

/** Whether it is known that no worker lives: who may not know is told null. */
export const hasNoWorker = (workers: readonly { is_alive: boolean }[] | null | undefined): boolean =>
  Array.isArray(workers) && !workers.some(({ is_alive }) => is_alive);

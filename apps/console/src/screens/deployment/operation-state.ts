import type { Operation, OperationStep } from '@slipway/sdk';

const ENDED = ['succeeded', 'failed', 'cancelled'];
/** Work that no worker has picked up for so long waits for one that is not there. */
const UNCLAIMED_MS = 10_000;

export const isLive = ({ status }: Pick<Operation, 'status'>): boolean => !ENDED.includes(status);

/** What goes on, else what went on last. */
export const shownOperation = (operations: readonly Operation[]): Operation | undefined =>
  operations.find(isLive) ?? operations[0];

/** `step 4 of 12`: where it stands, counted as people do. */
export function placeOf({ steps, current_step }: Operation): { n: number; of: number } {
  const index = steps.findIndex(({ name }) => name === current_step);
  return { n: Math.max(0, index) + 1, of: steps.length };
}

/** How long a step took, or has taken so far; null where it has not begun. */
export function stepMs({ started_at, completed_at }: OperationStep, now: number): number | null {
  if (!started_at) return null;
  return Math.max(0, (completed_at ? Date.parse(completed_at) : now) - Date.parse(started_at));
}

/** When the soak that goes on ends, in ms; null where none does. */
export function soakEnd({ steps, result, current_step }: Operation): number | null {
  const [kind, n] = current_step.split(':');
  const startedAt = steps.find(({ name }) => name === current_step)?.started_at;
  const plan = result['strategy_steps'];
  if (kind !== 'soak' || !startedAt || !Array.isArray(plan)) return null;
  const seconds: unknown = plan[Number(n) - 1]?.soak_seconds;
  return typeof seconds === 'number' ? Date.parse(startedAt) + seconds * 1_000 : null;
}

/** Whether it stands still until a person says something: an approval, or a gate that could not decide. */
export function waitsForPerson({ status, current_step }: Pick<Operation, 'status' | 'current_step'>): boolean {
  return status === 'waiting' && /^(await_promotion|analyze):/.test(current_step);
}

/** How long nobody has picked it up, where that is too long. */
export function unclaimedMs({ status, attempt, updated_at }: Operation, now: number): number | null {
  const waited = now - Date.parse(updated_at);
  return status === 'pending' && attempt === 0 && waited > UNCLAIMED_MS ? waited : null;
}

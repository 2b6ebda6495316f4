import type { Operation as Told, OperationStep } from '@slipway/sdk';

/** What an api of this version tells beside what its document promised before: absent from an older one. */
interface Since {
  awaiting?: string | null;
  resume_at?: string | null;
  idempotency_key?: string | null;
  request_id?: string | null;
}
export type Operation = Omit<Told, keyof Since> & Since;

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

/** When it goes on by itself, in ms: the end of a soak, or the next try. Null where it does not wait for a time. */
export function resumeMs(operation: Operation): number | null {
  if (!isLive(operation) || waitsForPerson(operation)) return null;
  return operation.resume_at ? Date.parse(operation.resume_at) : soakEnd(operation);
}

/** The end of a soak by the plan of its steps, for an api that does not tell it. */
function soakEnd({ steps, result, current_step }: Operation): number | null {
  const [kind, n] = current_step.split(':');
  const startedAt = steps.find(({ name }) => name === current_step)?.started_at;
  const plan = result['strategy_steps'];
  if (kind !== 'soak' || !startedAt || !Array.isArray(plan)) return null;
  const seconds: unknown = plan[Number(n) - 1]?.soak_seconds;
  return typeof seconds === 'number' ? Date.parse(startedAt) + seconds * 1_000 : null;
}

/** Whether it stands still until a person says something: an approval, or a gate that could not decide. */
export function waitsForPerson({
  status,
  current_step,
  awaiting,
}: Pick<Operation, 'status' | 'current_step' | 'awaiting'>): boolean {
  if (status !== 'waiting') return false;
  return awaiting === undefined ? /^(await_promotion|analyze):/.test(current_step) : awaiting !== null;
}

/** How long nobody has picked it up, where that is too long. */
export function unclaimedMs({ status, attempt, updated_at }: Operation, now: number): number | null {
  const waited = now - Date.parse(updated_at);
  return status === 'pending' && attempt === 0 && waited > UNCLAIMED_MS ? waited : null;
}

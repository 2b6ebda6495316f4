import type { Operation, OperationStep } from '@slipway/sdk';

export type { Operation };
export type WaitReason = NonNullable<Operation['waiting_for']>;

const ENDED = ['succeeded', 'failed', 'cancelled'];
/** Work that no worker has claimed for this long waits for a worker that does not exist. */
const UNCLAIMED_MS = 10_000;

export const isLive = ({ status }: Pick<Operation, 'status'>): boolean => !ENDED.includes(status);

/** Returns the running operation, or else the last one. */
export const shownOperation = (operations: readonly Operation[]): Operation | undefined =>
  operations.find(isLive) ?? operations[0];

/** Returns the position in `step 4 of 12`, counted from one. */
export function stepPositionOf({ steps, current_step }: Operation): { n: number; of: number } {
  const index = steps.findIndex(({ name }) => name === current_step);
  return { n: Math.max(0, index) + 1, of: steps.length };
}

/** Returns the step that a reader looks for: the one that failed, or the current one of work that runs. */
export function decisiveStepOf(operation: Operation): OperationStep | undefined {
  const { steps, current_step, status } = operation;
  const failed = status === 'failed' ? steps.find((step) => step.status === 'failed') : undefined;
  if (failed || !(isLive(operation) || status === 'failed')) return failed;
  return steps.find(({ name }) => name === current_step);
}

/** Returns how long a step took, or has taken so far; null if it has not begun. */
export function stepMs({ started_at, completed_at }: OperationStep, now: number): number | null {
  if (!started_at) return null;
  return Math.max(0, (completed_at ? Date.parse(completed_at) : now) - Date.parse(started_at));
}

/**
 * Returns when it continues by itself, in ms: the end of a soak, or the next
 * attempt. Null if it does not wait for a time.
 */
export function resumeMs(operation: Operation): number | null {
  if (!isLive(operation) || waitsForPerson(operation) || operation.pause) return null;
  return soakEndMs(operation) ?? (operation.resume_at ? Date.parse(operation.resume_at) : null);
}

/** A soak looks at its numbers all the time, so `resume_at` is only the next look: its message says how long it lasts. */
function soakEndMs({ waiting_for, message, updated_at }: Operation): number | undefined {
  const [, seconds] = /\bfor (\d+) s more\.$/.exec(message) ?? [];
  const isSoak = waiting_for === 'soak' || waiting_for === 'traffic';
  return isSoak && seconds ? Date.parse(updated_at) + Number(seconds) * 1000 : undefined;
}

const ENDED_BY_PERSON: readonly string[] = ['approval', 'decision', 'resume'] satisfies WaitReason[];

/** Whether it waits until a person approves, decides about an unclear gate, or resumes it. */
export const waitsForPerson = ({ status, waiting_for }: Pick<Operation, 'status' | 'waiting_for'>): boolean =>
  status === 'waiting' && ENDED_BY_PERSON.includes(waiting_for ?? '');

/** Returns how long no worker has claimed it, if that is too long. */
export function unclaimedMs({ status, attempt, updated_at }: Operation, now: number): number | null {
  const waited = now - Date.parse(updated_at);
  return status === 'pending' && attempt === 0 && waited > UNCLAIMED_MS ? waited : null;
}

/** Whether no worker is known to be alive: a person without access receives null. */
export const hasNoWorker = (workers: readonly { is_alive: boolean }[] | null | undefined): boolean =>
  Array.isArray(workers) && !workers.some(({ is_alive }) => is_alive);

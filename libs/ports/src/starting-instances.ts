import {
  PERMANENT_REASONS,
  CAPACITY_REASONS,
  FIXABLE_REASONS,
  type FailureCode,
  type ObservationReason,
  type StartFailure,
  type StartProgress,
} from '@slipway/contracts';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import { instanceFailures } from './instance.failures.js';

/** What a wait for instances goes by. */
export interface StartingInstances {
  /** How many instances should run (0 while it is suspended), and how many answer their probe now. */
  desired: number;
  ready: number;
  /** Restarts since the workload was last started; a crash counts one. */
  restarts: number;
  /** The newest trouble in words, for a step's message; null when there is none. */
  message: string | null;
  /** The same for programs, as far as the target can tell. */
  reason?: ObservationReason | null;
  /** Why the last start came to nothing, of the instance that ends a wait first; null once it is ready. */
  failure?: (StartFailure & { message: string }) | null;
  /** Starts of it in a row that ended for this cause, since somebody began to want it. */
  failedStarts?: number | null;
  /** How far the newest start is, where the target can tell. */
  progress?: StartProgress | null;
  /** Since the newest start began; null while none is under way. */
  startingSeconds?: number | null;
}

/** Starts that may end alike before nobody waits for the next one. */
const SAME_CAUSE_LIMIT = 3;
/** How long something may be missing that somebody has to bring. */
const MENDED_WITHIN_SECONDS = 60;
/** Last lines that a message shows; the evidence has all. */
const SHOWN_LINES = 3;

/**
 * Ends a wait for instances that will not become ready: for a cause that no waiting mends, after a minute for one that is seldom mended, or
 * after three starts that ended alike.
 * @throws StepFailed `target_not_ready`: the cause, the line that tells it and what to do in the message, the last lines as evidence
 */
export function assertMayBecomeReady(status: StartingInstances): void {
  const { ready, desired, restarts, failure, failedStarts, reason, message, startingSeconds } = status;
  if (ready >= desired) return;
  if (reason && FIXABLE_REASONS.has(reason) && (startingSeconds ?? 0) >= MENDED_WITHIN_SECONDS)
    throw new StepFailed(
      instanceFailures.target_not_ready,
      `${ready} of ${desired} instances are ready, and nobody has mended it for ${MENDED_WITHIN_SECONDS} s: ${reason}: ${message}`,
      { evidence: { ready, desired, restarts, cause: reason } },
    );
  if (!failure) return;
  const isHopeless = PERMANENT_REASONS.has(failure.cause);
  if (!isHopeless && (failedStarts ?? 0) < SAME_CAUSE_LIMIT) return;
  const why = isHopeless ? 'waiting mends nothing' : `${failedStarts} starts in a row ended alike`;
  const { cause, exit_code, log_tail } = failure;
  throw new StepFailed(
    instanceFailures.target_not_ready,
    `${ready} of ${desired} instances are ready, and ${why}: ${failureText(failure)}`,
    { evidence: { ready, desired, restarts, cause, exit_code, log_tail } },
  );
}

/** What a wait that has come to its deadline fails as: for want of room, because the target was away, or by its own fault. */
export function lateFailure(status: StartingInstances | undefined): FailureCode {
  const { reason } = status ?? {};
  if (reason === 'target_unavailable') return operationFailures.dependency_outage;
  if (reason && CAPACITY_REASONS.has(reason)) return instanceFailures.capacity_exhausted;
  return instanceFailures.target_not_ready;
}

/** The cause, the line that tells it, the last lines, what to do. */
function failureText(failure: NonNullable<StartingInstances['failure']>): string {
  const { cause, message, line, remediation } = failure;
  const told = line === undefined || message.includes(line) ? message : `${message}: ${line}`;
  const last = failure.log_tail.slice(-SHOWN_LINES).filter((one) => !told.includes(one));
  const lines = last.length > 0 ? ` Its last lines: ${last.join(' | ')}.` : '';
  return `${cause}: ${told.replace(/\.$/, '')}.${lines} ${remediation}`;
}

/** What a wait shows: the trouble, or how far the start is. */
export function waitMessage(status: StartingInstances | undefined): string {
  const { desired = 1, ready = 0, message = null, progress, startingSeconds, failure } = status ?? {};
  const counted = `${ready} of ${desired} instances are ready`;
  if (message !== null) return message;
  if (startingSeconds === null || startingSeconds === undefined) return counted;
  const again = failure ? `; the start before ended: ${shortOf(failure)}` : '';
  return `${counted}: ${progressText(progress)} for ${Math.max(0, Math.floor(startingSeconds))} s${again}`;
}

function shortOf({ cause, message }: StartFailure & { message: string }): string {
  return `${cause}, ${message}`;
}

/** `downloading 1.2 of 4.1 GB`. */
export function progressText(progress: StartProgress | null | undefined): string {
  if (!progress) return 'starting';
  const { phase, bytes, total_bytes: total } = progress;
  if (bytes === undefined) return phase;
  return total === undefined
    ? `${phase} ${gigabytes(bytes)} GB`
    : `${phase} ${gigabytes(bytes)} of ${gigabytes(total)} GB`;
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}

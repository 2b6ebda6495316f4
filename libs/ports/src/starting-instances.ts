import { HOPELESS, type StartFailure, type StartProgress } from '@slipway/contracts';
import { StepFailed } from '@slipway/platform-operations';
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
/** Last lines that a message shows; the evidence has all. */
const SHOWN_LINES = 3;

/**
 * Ends a wait for instances that will not become ready: for a cause that no waiting mends, or after three starts that ended alike.
 * @throws StepFailed `target_not_ready`: the cause, the line that tells it and what to do in the message, the last lines as evidence
 */
export function assertMayBecomeReady({ ready, desired, restarts, failure, failedStarts }: StartingInstances): void {
  if (!failure || ready >= desired) return;
  const isHopeless = HOPELESS.has(failure.cause);
  if (!isHopeless && (failedStarts ?? 0) < SAME_CAUSE_LIMIT) return;
  const why = isHopeless ? 'waiting mends nothing' : `${failedStarts} starts in a row ended alike`;
  const { cause, exit_code, log_tail } = failure;
  throw new StepFailed(
    instanceFailures.target_not_ready,
    `${ready} of ${desired} instances are ready, and ${why}: ${failureText(failure)}`,
    { evidence: { ready, desired, restarts, cause, exit_code, log_tail } },
  );
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

import {
  PERMANENT_REASONS,
  CAPACITY_REASONS,
  FIXABLE_REASONS,
  type FailureCode,
  type StartFailure,
  type StartProgress,
} from '@slipway/contracts';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import { instanceFailures, type InstancesPort, type WorkloadStatus } from '@slipway/ports/instances';

/** Consecutive starts that may fail in the same way before the wait ends. */
const SAME_CAUSE_LIMIT = 3;
/** How long the wait continues for something that a person has to fix. */
const MENDED_WITHIN_SECONDS = 60;
function assertMayBecomeReady(status: WorkloadStatus): void {
  const { ready, desired, restarts, failure, failedStarts, reason, message, startingSeconds } = status;
  if (ready >= desired) return;
  const counted = `${ready} of ${desired} instances are ready`;
  if (reason && FIXABLE_REASONS.has(reason) && (startingSeconds ?? 0) >= MENDED_WITHIN_SECONDS)
    throw new StepFailed(instanceFailures.target_not_ready, `${reason}: ${message}`, {
      stepMessage: `${counted}, still failing after ${MENDED_WITHIN_SECONDS} s.`,
      evidence: { ready, desired, restarts, cause: reason },
    });
  if (!failure) return;
  const isHopeless = PERMANENT_REASONS.has(failure.cause);
  if (!isHopeless && (failedStarts ?? 0) < SAME_CAUSE_LIMIT) return;
  const why = isHopeless ? 'waiting does not help' : `${failedStarts} consecutive starts failed in the same way`;
  const { cause, exit_code, log_tail } = failure;
  throw new StepFailed(instanceFailures.target_not_ready, failureText(failure), {
    stepMessage: `${counted}, and ${why}.`,
    evidence: { ready, desired, restarts, cause, exit_code, log_tail },
  });
}

function lateFailure(status: WorkloadStatus | undefined): FailureCode {
  const { reason } = status ?? {};
  if (reason === 'target_unavailable') return operationFailures.dependency_outage;
  if (reason && CAPACITY_REASONS.has(reason)) return instanceFailures.capacity_exhausted;
  return instanceFailures.target_not_ready;
}

/** Returns the cause, the line that shows it, and the next step. The last lines are in the evidence of the step. */
function failureText(failure: NonNullable<WorkloadStatus['failure']>): string {
  return `${failure.cause}: ${toldBy(failure).replace(/\.$/, '')}. ${failure.remediation}`;
}

/** Returns the message of a failed start, with the line that shows its cause. */
export function toldBy({ message, line }: NonNullable<WorkloadStatus['failure']>): string {
  return line === undefined || message.includes(line) ? message : `${message}: ${line}`;
}

function troubleText(status: WorkloadStatus | undefined): string | undefined {
  const { reason, message, failure } = status ?? {};
  if (failure && (!message || message === failure.message)) return failureText(failure);
  return message && reason ? `${reason}: ${message}` : (message ?? undefined);
}

function waitMessage(status: WorkloadStatus | undefined): string {
  const { desired = 1, ready = 0, message = null, progress, startingSeconds, failure } = status ?? {};
  const counted = `${ready} of ${desired} instances are ready`;
  if (message !== null) return message;
  if (startingSeconds === null || startingSeconds === undefined) return `${counted}.`;
  const again = failure ? `; the previous start failed: ${shortOf(failure)}` : '';
  return `${counted}: ${progressText(progress)} for ${Math.max(0, Math.floor(startingSeconds))} s${again}.`;
}

function shortOf({ cause, message }: StartFailure & { message: string }): string {
  return `${cause}, ${message}`;
}

function progressText(progress: StartProgress | null | undefined): string {
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

/** The rules of the port for waits, which need no database. A fake of the port uses them too. */
export const startRules = {
  assertMayBecomeReady,
  lateFailure,
  waitMessage,
  troubleText,
  progressText,
} satisfies Partial<InstancesPort>;

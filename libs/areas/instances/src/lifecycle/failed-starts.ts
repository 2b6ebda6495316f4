import { timeLimit, type StartFailure } from '@slipway/contracts';
import { redactSecrets, type Observation, type TargetDriver } from '@slipway/target-driver';
import type { FailedStart } from '../workloads/instance.entity.js';
import { storableText } from '../workloads/stored-text.js';
import type { InstanceRow } from '../workloads/instance.query.js';
import type { InstanceChange } from './instance-transitions.js';

const MAX_LINES = 40;
/** Limit for reading the last lines. The next life of the server has already begun, so a longer wait is not worth it. */
const PATIENCE_MS = 3_000;
const FIRST_SECONDS = 0.5;
const MAX_SECONDS = 30;
/** An instance that was ready for this long counts as healthy, so its next crash is a first one. */
const WELL_AFTER_SECONDS = 60;

type StartHistory = Pick<InstanceRow, 'ready_age_seconds' | 'failure' | 'failed_starts'>;

/**
 * Returns the failure of a generation that was never ready, and {} for one that was. It counts consecutive starts that
 * end in the same way, for operations that wait.
 * @param lines the last output, if the target does not include it in its observation
 * @param isAfterStop whether another instance on the host has just stopped. Its memory may not be free yet, so one
 * start that lacks accelerator memory does not count
 */
export function failedStart(
  instance: StartHistory,
  seen: Observation,
  isAfterStop: boolean,
  lines: readonly string[] = [],
): Pick<InstanceChange, 'failure' | 'failedStarts'> {
  if (instance.ready_age_seconds !== null) return {};
  const failure = failureOf(seen, lines);
  const isAlike = isSameCause(instance.failure, failure);
  if (failure.cause === 'gpu_memory' && isAfterStop && instance.failure?.cause !== 'gpu_memory')
    return { failure, failedStarts: 0 };
  return { failure, failedStarts: isAlike ? instance.failed_starts + 1 : 1 };
}

export const NO_FAILURE = { failure: null, failedStarts: 0, progress: null } satisfies Partial<InstanceChange>;

function isSameCause(before: StartHistory['failure'], now: FailedStart): boolean {
  return before?.cause === now.cause && before.exit_code === now.exit_code && before.signal === now.signal;
}

/** If the target gives no reason of its own, the failure has only what was observed. */
function failureOf({ failure, reason, lastExit, message }: Observation, lines: readonly string[]): FailedStart {
  const known: StartFailure = failure ?? {
    cause: reason ?? lastExit?.reason ?? 'exited',
    remediation: 'Read the last lines of the instance with GET /api/v1/deployments/{name}/instances/{id}/logs.',
    exit_code: lastExit?.code ?? null,
    signal: null,
    log_tail: [...lines],
  };
  return {
    ...known,
    remediation: storableText(known.remediation),
    ...(known.line !== undefined && { line: storableText(known.line) }),
    log_tail: known.log_tail.slice(-MAX_LINES).map((line) => storableText(line)),
    message: storableText(message ?? 'it ended'),
  };
}

/**
 * Returns the last lines that a server wrote in its previous life. Returns those read so far if the target does not
 * answer in time. Never throws.
 * @param secrets values that must not be shown
 */
export async function lastLinesOf(
  driver: Pick<TargetDriver, 'logs'>,
  instanceId: string,
  secrets: readonly string[],
  patienceMs = PATIENCE_MS,
): Promise<string[]> {
  const { signal, stop } = timeLimit(patienceMs);
  const about = { tail: MAX_LINES, stream: 'both', previous: true, follow: false } as const;
  const lines = driver.logs?.(instanceId, { ...about, signal, secrets })[Symbol.asyncIterator]();
  if (!lines) return [];
  const isLate = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  const told: string[] = [];
  try {
    while (told.length < MAX_LINES) {
      const next = await Promise.race([lines.next(), isLate]);
      if (!next || next.done) break;
      told.push(redactSecrets(next.value.text, secrets));
    }
  } catch {
    // The read failed, so only the lines so far are available.
  } finally {
    stop();
  }
  void lines.return?.()?.catch(() => undefined);
  return told;
}

/**
 * Returns how long an instance waits before it is started again: 0.5 s after a first crash, doubled by each further
 * one, at most 30 s.
 * @param streak crashes so far without a minute of being ready
 * @param readySeconds how long the crashed generation had been ready; null if it never was
 */
export function restartBackOff(streak: number, readySeconds: number | null): { streak: number; seconds: number } {
  const next = readySeconds !== null && readySeconds >= WELL_AFTER_SECONDS ? 1 : streak + 1;
  return { streak: next, seconds: Math.min(MAX_SECONDS, FIRST_SECONDS * 2 ** Math.min(next - 1, 10)) };
}

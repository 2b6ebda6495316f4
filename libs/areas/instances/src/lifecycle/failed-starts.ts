import type { StartFailure } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { FailedStart } from '../workloads/instance.entity.js';
import type { InstanceRow } from '../workloads/instance.query.js';
import type { InstanceChange } from './instance-transitions.js';

export const MAX_LINES = 40;
const MAX_CHARACTERS = 500;

type Known = Pick<InstanceRow, 'ready_age' | 'failure' | 'failed_starts'>;

/**
 * What is kept of the end of a generation that was never ready; nothing where it was. Starts that end alike are counted, for who waits.
 * @param lines its last output, where the target does not bring it along
 * @param isAfterStop whether something else of the host has just stopped: its memory may not have been back yet, so one start that lacks
 * memory of an accelerator does not count
 */
export function failedStart(
  instance: Known,
  seen: Observation,
  isAfterStop: boolean,
  lines: readonly string[] = [],
): Pick<InstanceChange, 'failure' | 'failedStarts'> {
  if (instance.ready_age !== null) return {};
  const failure = failureOf(seen, lines);
  const isAlike = isSameCause(instance.failure, failure);
  if (failure.cause === 'gpu_memory' && isAfterStop && instance.failure?.cause !== 'gpu_memory')
    return { failure, failedStarts: 0 };
  return { failure, failedStarts: isAlike ? instance.failed_starts + 1 : 1 };
}

export const NO_FAILURE = { failure: null, failedStarts: 0, progress: null } satisfies Partial<InstanceChange>;

function isSameCause(before: Known['failure'], now: FailedStart): boolean {
  return before?.cause === now.cause && before.exit_code === now.exit_code && before.signal === now.signal;
}

/** Where the target gives no reason of its own, what it saw is all there is to say. */
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
    remediation: storable(known.remediation),
    ...(known.line !== undefined && { line: storable(known.line) }),
    log_tail: known.log_tail.slice(-MAX_LINES).map(storable),
    message: storable(message ?? 'it ended'),
  };
}

/** Bounded; Postgres keeps neither NUL nor half a character, and an engine may print either. */
export function storable(text: string): string {
  return Buffer.from(text.slice(0, MAX_CHARACTERS)).toString().replaceAll('\0', '\uFFFD');
}

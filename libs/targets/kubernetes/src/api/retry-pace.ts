import { ApiError, UnreachableError } from './errors.js';
import { LONGEST_RETRY_AFTER_MS } from './retry-budget.js';

/** Pauses between two tries that failed for the same reason. */
const FIRST_MS = 1_000;
const SHORTEST_MS = 500;
const LONGEST_MS = 10_000;
/**
 * A try costs nothing if no server answers. The client should notice a server that returns within five seconds, and a
 * repaired Role within ten.
 */
const LONGEST_UNREACHABLE_MS = 4_000;
const LONGEST_REFUSED_MS = 8_000;

type Trouble = 'unreachable' | 'refused' | 'broken';

/** The pause after a failure: it doubles, with jitter, and starts again with another kind of failure. */
export class RetryPace {
  private trouble?: Trouble;
  private failures = 0;

  /** @param shorter divides all times, for tests */
  constructor(
    private readonly random: () => number = Math.random,
    private readonly shorter = 1,
  ) {}

  /** Failures in a row, of one kind. */
  get inARow(): number {
    return this.failures;
  }

  succeeded(): void {
    this.failures = 0;
    this.trouble = undefined;
  }

  /** Counts a failure, and returns the milliseconds to wait. */
  failed(error: unknown): number {
    const trouble = troubleIn(error);
    if (trouble !== this.trouble) this.failures = 0;
    this.trouble = trouble;
    this.failures += 1;
    const most = Math.min(longestOf(trouble), FIRST_MS * 2 ** Math.min(this.failures - 1, 10));
    const least = Math.max(SHORTEST_MS, most / 2);
    const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const waitMs = Math.max(least + (most - least) * this.random(), Math.min(asked, LONGEST_RETRY_AFTER_MS));
    return waitMs / this.shorter;
  }
}

function troubleIn(error: unknown): Trouble {
  if (error instanceof UnreachableError) return 'unreachable';
  return error instanceof ApiError && [401, 403, 404].includes(error.status) ? 'refused' : 'broken';
}

function longestOf(trouble: Trouble): number {
  if (trouble === 'unreachable') return LONGEST_UNREACHABLE_MS;
  return trouble === 'refused' ? LONGEST_REFUSED_MS : LONGEST_MS;
}

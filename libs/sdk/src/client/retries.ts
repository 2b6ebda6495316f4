import { LONGEST_TIMER_MS } from '../contracts.js';
import { SlipwayError } from './errors.js';

const FIRST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 8_000;
/** If the api requests a longer wait, the caller gets the error instead of a silent wait. */
const MOST_RETRY_AFTER_MS = 60_000;
/** Refused before anything was done, so that even a call that must not happen twice may be repeated. */
const NOTHING_DONE = [408, 409, 429];

export interface TryCount {
  /** Number of failed tries before this one. */
  before: number;
  most: number;
  /** Whether a repetition does no harm if the failed try was carried out unnoticed. */
  isRepeatable: boolean;
}

/** @returns the wait before the next try, or undefined if there is none and the call fails with the error */
export function pauseAfter(error: unknown, { before, most, isRepeatable }: TryCount): number | undefined {
  if (before >= most || !(error instanceof SlipwayError) || !error.retryable) return undefined;
  if (!isRepeatable && !NOTHING_DONE.includes(error.status ?? 0)) return undefined;
  if (error.retryAfterMs === undefined) return backOffMs(before);
  return error.retryAfterMs <= MOST_RETRY_AFTER_MS ? error.retryAfterMs : undefined;
}

/** Doubles each time, with a random spread, so that clients that failed together do not retry together. */
export function backOffMs(failures: number, mostMs = MOST_PAUSE_MS): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, mostMs) * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', settle);
      resolve();
    };
    const timer = setTimeout(settle, Math.min(ms, LONGEST_TIMER_MS));
    signal?.addEventListener('abort', settle);
  });
  signal?.throwIfAborted();
}

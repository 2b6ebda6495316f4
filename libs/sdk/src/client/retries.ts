import { SlipwayError } from './errors.js';

const FIRST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 8_000;
/** Who is told to come back later than this hears of it instead of waiting in the dark. */
const MOST_RETRY_AFTER_MS = 60_000;
/** Refused before anything was done, so that even what must not happen twice may be asked for again. */
const NOTHING_DONE = [408, 409, 429];

export interface TryCount {
  /** How many have failed before this one. */
  before: number;
  most: number;
  /** Whether it makes no difference if the failed try has been carried out unseen. */
  isRepeatable: boolean;
}

/** @returns how long to wait before the next try, or undefined: there is none, the error is the call's. */
export function pauseAfter(error: unknown, { before, most, isRepeatable }: TryCount): number | undefined {
  if (before >= most || !(error instanceof SlipwayError) || !error.retryable) return undefined;
  if (!isRepeatable && !NOTHING_DONE.includes(error.status ?? 0)) return undefined;
  if (error.retryAfterMs === undefined) return backOffMs(before);
  return error.retryAfterMs <= MOST_RETRY_AFTER_MS ? error.retryAfterMs : undefined;
}

/** Doubles, and is spread, so that those who failed together do not come back together. */
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
    const timer = setTimeout(settle, ms);
    signal?.addEventListener('abort', settle);
  });
  signal?.throwIfAborted();
}

import { request, type Dispatcher } from 'undici';
import { IDLE_TIMEOUT_MS } from '../storage/time-limits.js';
import type { PushRequest } from './push-request.js';

/** An answer has no business being larger; what it says is not looked at. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface SendBounds {
  dispatcher: Dispatcher;
  signal: AbortSignal;
  /** Milliseconds for everything. */
  limitMs: number;
  /** Milliseconds in which the other side may take and say nothing. */
  idleTimeoutMs?: number;
}

/**
 * Sends one request with a file and returns the status of its answer. It ends when nothing passes for `idleTimeoutMs`, after
 * `limitMs` though bytes still pass, and at once when the signal aborts.
 */
export async function sendFile({ url, ...options }: PushRequest, bounds: SendBounds): Promise<number> {
  const { dispatcher, signal, limitMs, idleTimeoutMs = IDLE_TIMEOUT_MS } = bounds;
  const answer = await request(url, {
    ...options,
    dispatcher,
    // Counted from the last byte that was taken.
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
  } as Parameters<typeof request>[1]);
  await answer.body.dump({ limit: MAX_ANSWER_BYTES });
  return answer.statusCode;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Token of a `DeliveryTiming`. If no module provides one, the product's timing applies. */
export const DELIVERY_TIMING = Symbol('DeliveryTiming');

export interface DeliveryTiming {
  /**
   * From the first look-up to the end of the answer. A run of a queue that has lasted this long starts no further
   * request.
   */
  timeoutMs: number;
  /**
   * How long a sender owns a queue without writing. Must be longer than one request, or two workers would send at once.
   */
  leaseMs: number;
  /** Delays before the second attempt, the third, and so on. After the last one the delivery has failed. */
  retryDelaysMs: readonly number[];
}

/** Nine attempts in about three days: a short outage delays events by seconds, and a weekend is bridged. */
export const PRODUCT_TIMING: DeliveryTiming = {
  timeoutMs: 10 * SECOND,
  leaseMs: 20 * SECOND,
  retryDelaysMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 40 * HOUR],
};

const JITTER = 0.2;

/** The longest `Retry-After` that is obeyed. A receiver with a wrong date must not stop its events for years. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR;

/**
 * Returns the wait after the given number of ended attempts; undefined after the last one. It varies by a fifth at
 * random, so that the streams of one webhook do not all retry at the same moment.
 * @param requestedMs the receiver's `Retry-After`. It lengthens the wait and never shortens it: a receiver that always
 * requests a second would use up all attempts in seconds
 */
export function retryDelayMs(
  timing: Pick<DeliveryTiming, 'retryDelaysMs'>,
  attempts: number,
  requestedMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const delay = timing.retryDelaysMs[attempts - 1];
  if (delay === undefined) return undefined;
  return Math.max(Math.round(delay * (1 - JITTER + 2 * JITTER * random())), Math.min(requestedMs, MAX_RETRY_AFTER_MS));
}

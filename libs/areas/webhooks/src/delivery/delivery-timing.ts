const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Token of a `DeliveryTiming`; if nobody provides one, the product's own applies. */
export const DELIVERY_TIMING = Symbol('DeliveryTiming');

export interface DeliveryTiming {
  /** From the first look-up to the end of the answer; a run of a queue that has lasted so long starts no further request. */
  timeoutMs: number;
  /** How long a sender owns a queue without writing; longer than one request, or two workers would send at once. */
  leaseMs: number;
  /** Before the second attempt, the third, …; after the last one the delivery has failed. */
  retryDelaysMs: readonly number[];
}

/** Nine attempts in about three days: short outages cost seconds, and a weekend is survived. */
export const PRODUCT_TIMING: DeliveryTiming = {
  timeoutMs: 10 * SECOND,
  leaseMs: 20 * SECOND,
  retryDelaysMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 40 * HOUR],
};

const JITTER = 0.2;

/**
 * How long to wait after the given number of ended attempts; undefined = that was the last one. A fifth more or less by chance,
 * so that the streams of one webhook do not all come back in the same moment.
 */
export function retryDelayMs(
  timing: Pick<DeliveryTiming, 'retryDelaysMs'>,
  attempts: number,
  random: () => number = Math.random,
): number | undefined {
  const delay = timing.retryDelaysMs[attempts - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 - JITTER + 2 * JITTER * random()));
}

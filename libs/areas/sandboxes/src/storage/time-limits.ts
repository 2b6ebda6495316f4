/** Milliseconds to connect, and milliseconds without a byte in either direction: a slower peer counts as gone. */
export const TRANSFER_CONNECT_TIMEOUT_MS = 5_000;
export const TRANSFER_IDLE_TIMEOUT_MS = 20_000;
/** Injection token: replaces `IDLE_TIMEOUT_MS` in tests that wait for it. */
export const TRANSFER_IDLE_TIMEOUT = Symbol('IDLE_TIMEOUT');

const LEAST_LIMIT_MS = 30_000;
/** A peer that takes bytes more slowly than this is treated as stalled. */
const SLOWEST_BYTES_PER_SECOND = 512 * 1024;

/**
 * Returns the whole milliseconds that this many bytes may take altogether: a byte now and then would reset the idle
 * time-out for ever.
 */
export function transferLimitMs(bytes: number): number {
  return LEAST_LIMIT_MS + Math.ceil((bytes / SLOWEST_BYTES_PER_SECOND) * 1_000);
}

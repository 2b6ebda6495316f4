/** Milliseconds to be connected, and without a byte in either direction: who takes longer is taken for gone. */
export const TRANSFER_CONNECT_TIMEOUT_MS = 5_000;
export const TRANSFER_IDLE_TIMEOUT_MS = 20_000;
/** Injection token: replaces `IDLE_TIMEOUT_MS`, for tests that wait for it. */
export const TRANSFER_IDLE_TIMEOUT = Symbol('IDLE_TIMEOUT');

const LEAST_LIMIT_MS = 30_000;
/** Whoever takes bytes more slowly than this only seems to work. */
const SLOWEST_BYTES_PER_SECOND = 512 * 1024;

/** Whole milliseconds that so many bytes may take altogether: a byte now and then keeps the idle time-out away for ever. */
export function transferLimitMs(bytes: number): number {
  return LEAST_LIMIT_MS + Math.ceil((bytes / SLOWEST_BYTES_PER_SECOND) * 1_000);
}

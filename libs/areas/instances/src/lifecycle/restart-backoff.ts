const FIRST_SECONDS = 0.5;
const MAX_SECONDS = 30;
/** An instance that was ready for so long is taken to have been well; its next crash is a first one. */
const WELL_AFTER_SECONDS = 60;

/**
 * How long an instance waits before it is started again: 0.5 s after a first crash, doubled by each further one, at most 30 s.
 * @param streak crashes so far without a minute of being ready
 * @param readySeconds how long the crashed generation had been ready; null when it never was
 */
export function backOff(streak: number, readySeconds: number | null): { streak: number; seconds: number } {
  const next = readySeconds !== null && readySeconds >= WELL_AFTER_SECONDS ? 1 : streak + 1;
  return { streak: next, seconds: Math.min(MAX_SECONDS, FIRST_SECONDS * 2 ** Math.min(next - 1, 10)) };
}

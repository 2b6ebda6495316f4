import { setTimeout as delay } from 'node:timers/promises';

const PACE_MS = 100;

/** Thrown by a check to stop polling, because later checks cannot succeed. */
export class HopelessError extends Error {}

/**
 * Polls `look` until it returns a value, and returns that value.
 * @throws Error with `what` and the last failure of `look`, if this takes longer than `withinMs`
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 60_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  let last = '';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      if (error instanceof HopelessError) throw error;
      last = `: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}${last}`);
    await delay(PACE_MS);
  }
}

import { setTimeout as delay } from 'node:timers/promises';

const PACE_MS = 100;

/** What a look throws when another look cannot find more. */
export class HopelessError extends Error {}

/**
 * What `look` finds, once it finds something.
 * @throws Error with `what` and the last failure of a look when that takes longer than `withinMs`
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

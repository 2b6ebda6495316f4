import { redacted, type TargetDriver } from '@slipway/target-driver';
import { MAX_LINES } from './failed-starts.js';

/** What a target does not tell by then is not waited for: the next life has begun meanwhile. */
const PATIENCE_MS = 3_000;

/**
 * What a server wrote at the end of the life that is over, for who waits for it; nothing where the target does not tell in time. Never throws.
 * @param secrets values that must not be shown
 */
export async function lastLines(
  driver: Pick<TargetDriver, 'logs'>,
  instanceId: string,
  secrets: readonly string[],
  patienceMs = PATIENCE_MS,
): Promise<string[]> {
  const signal = AbortSignal.timeout(patienceMs);
  const about = { tail: MAX_LINES, stream: 'both', previous: true, follow: false } as const;
  const lines = driver.logs?.(instanceId, { ...about, signal, secrets })[Symbol.asyncIterator]();
  if (!lines) return [];
  const isLate = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  const told: string[] = [];
  try {
    while (told.length < MAX_LINES) {
      const next = await Promise.race([lines.next(), isLate]);
      if (!next || next.done) break;
      told.push(redacted(next.value.text, secrets));
    }
  } catch {
    // It could not be asked: what it has told so far is all there is.
  }
  void lines.return?.()?.catch(() => undefined);
  return told;
}

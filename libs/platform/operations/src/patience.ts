import type { Tx } from '@slipway/platform-database';

/** For how long several wait together for a row that somebody holds, in milliseconds; and how soon the next ones go, whatever becomes of these. */
export const PATIENCE_MS = 100;

/** Does the work of several in one transaction: a row that somebody holds fails it, instead of holding up all of them. */
export async function withPatience<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  // Travels with what follows; where it fails, that fails too.
  tx.query(`set local lock_timeout = ${PATIENCE_MS}`).catch(() => undefined);
  const done = await work();
  // A commit that notifies waits for the one before: no row is to blame, and it may take longer.
  tx.query('set local lock_timeout to default').catch(() => undefined);
  return done;
}

/** Resolves when the work has settled, which never rejects, or when the patience of those behind it is over. */
export async function settledInTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

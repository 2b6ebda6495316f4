import type { ClientBase } from 'pg';

const FIRST_MS = 1_000;
const MOST_MS = 60_000;

const due = new WeakMap<ClientBase, { at: number; gapMs: number }>();

/**
 * A named statement is planned once per connection, for tables as they are then. What was planned on empty ones reads all of a table, or all
 * of a tenant, and would do so until Postgres analyses the table, a minute and thousands of rows later. So plans are made anew: a second after
 * a connection's first use, then each time after twice as long, up to a minute. The message goes in front of whatever is sent next.
 */
export function renewPlans(client: ClientBase, now = performance.now()): void {
  const next = due.get(client);
  if (!next) {
    due.set(client, { at: now + FIRST_MS, gapMs: FIRST_MS });
    return;
  }
  if (now < next.at) return;
  next.gapMs = Math.min(2 * next.gapMs, MOST_MS);
  next.at = now + next.gapMs;
  // Where it fails, so does what is sent behind it.
  client.query('DISCARD PLANS').catch(() => undefined);
}

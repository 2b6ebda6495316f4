import type { Writable } from 'node:stream';
import pg from 'pg';
import type { ClientBase, QueryResult } from 'pg';
import type { Statement } from './statement.js';

/**
 * Sends a statement at once and waits for its answer. pg copies a query that is given as an object of settings property by property;
 * one that was made is sent as it is.
 */
export async function send(client: ClientBase, statement: Statement | string, values: unknown[]): Promise<QueryResult> {
  const isNamed = typeof statement !== 'string';
  const query = new pg.Query(isNamed ? statement.text : statement, values);
  try {
    return await new Promise<QueryResult>((resolve, reject) => {
      const callback = (error: Error | null, result: QueryResult) => (error ? reject(error) : resolve(result));
      client.query(Object.assign(query, { name: isNamed ? statement.name : undefined, callback }));
    });
  } catch (error) {
    // Where it was asked, not where the answer was read.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}

/**
 * Statements that are sent in one turn of the event loop leave in one write: the system call costs more than all else that the
 * client does for a statement, and the server wakes once for all of them. Nothing waits longer: the write comes before anything is read.
 */
export function gatherWrites(client: ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Writable } };
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  let isGathering = false;
  const gathered = (...args: unknown[]): unknown => {
    if (!isGathering) {
      isGathering = true;
      const { stream } = connection;
      stream.cork();
      process.nextTick(() => {
        isGathering = false;
        stream.uncork();
      });
    }
    return query(...args);
  };
  Object.assign(client, { query: gathered });
}

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

/** Takes a connection away at once; what waits on it fails. `end` would wait for a peer that may be gone. */
export function cut(client: ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

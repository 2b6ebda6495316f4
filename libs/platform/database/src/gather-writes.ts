import type { Writable } from 'node:stream';
import type { ClientBase } from 'pg';

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

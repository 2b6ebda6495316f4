import type { AnswerOf } from '@slipway/sdk';

export type System = AnswerOf<'getSystem'>;

/** Work that was due, or a message that was to go out, so long ago means that nobody looks after it. */
const BEHIND_SECONDS = 30;
const SLOW_DATABASE_MS = 1_000;

/** What is told of the system is told to the operator alone: null says nothing. */
export const hasNoWorker = ({ workers }: Pick<System, 'workers'>): boolean =>
  workers !== null && !workers.some(({ is_alive }) => is_alive);

/** What is behind, in words, the worst first; empty where all is as it should be. */
export function faultsOf(system: Pick<System, 'workers' | 'gateways' | 'queue' | 'database'>): string[] {
  const { gateways, queue, database } = system;
  const faults: string[] = [];
  if (hasNoWorker(system)) faults.push('No worker is polling: nothing that was asked for goes on.');
  const due = queue?.operations.oldest_due_seconds ?? 0;
  if (due > BEHIND_SECONDS) faults.push(`The queue is behind: an operation has been due for ${Math.round(due)} s.`);
  const unsent = queue?.outbox.oldest_seconds ?? 0;
  if (unsent > BEHIND_SECONDS) faults.push(`The queue is behind: a message has waited for ${Math.round(unsent)} s.`);
  if (database && database.latency_ms > SLOW_DATABASE_MS)
    faults.push(`Postgres is slow: it answered after ${Math.round(database.latency_ms)} ms.`);
  const late = (gateways ?? []).filter(({ is_alive, routes_behind }) => is_alive && routes_behind > 0).length;
  if (late > 0) faults.push(`${late} of the gateways serve older routes.`);
  return faults;
}

import { prepared, type Tx } from '@slipway/platform-database';

/*
 * The work that is left for the workers, at one moment and in one round trip. It is counted with the partial indexes
 * that workers search (`operations_due`, `operations_held`), so that thirty days of ended operations cost nothing. The
 * `due_at` of a woken operation is its creation time, so its wait is measured from its last change.
 */
const BACKLOG = prepared(
  'operation-backlog',
  `select
     (select jsonb_build_object('waiting', count(*), 'oldest_seconds', extract(epoch from clock_timestamp() - min(not_before))::float8)
       from outbox where not_before <= clock_timestamp()) as outbox,
     (select jsonb_build_object('due', count(*),
         'oldest_due_seconds', extract(epoch from clock_timestamp() - min(greatest(due_at, updated_at)))::float8)
       from operations where due_at <= clock_timestamp())
     || jsonb_build_object(
         'running', (select count(*) from operations where is_held),
         'asleep', (select count(*) from operations where due_at > clock_timestamp())) as operations`,
);

export interface Backlog {
  /** Wake-ups that are due and that no relay has added to the queue. */
  outbox: { waiting: number; oldest_seconds: number | null };
  /** `due`: a worker may claim it. `running`: a worker holds it. `asleep`: it continues by itself later. */
  operations: { due: number; oldest_due_seconds: number | null; running: number; asleep: number };
}

/** Reads the backlog of all tenants, so it needs a system transaction. */
export async function backlogOf(tx: Tx): Promise<Backlog> {
  return (await tx.one<Backlog>(BACKLOG)) as Backlog;
}

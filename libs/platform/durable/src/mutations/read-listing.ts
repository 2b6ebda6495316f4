import { Injectable } from '@nestjs/common';
import { newId, prepared, type Tx } from '@slipway/platform-database';
import { Recurring, type Transact } from '../scheduling/index.js';
import { AuditLogEntity } from './audit-log.entity.js';

/** Equal reads, of one tenant, actor, action and resource. */
export interface ListingReads {
  tenantId: string;
  actor: string;
  action: string;
  resourceType: string;
  resourceName: string;
  /** The number of reads. */
  reads: number;
  /** The request of the first of them. */
  requestId: string | null;
}

/** Maximum number of rows that one transaction lists; the next transactions list the rest. */
const BATCH = 500;
const MAX_BATCHES = 20;

const KEY = 'tenant_id, actor, action, resource_type, resource_name';

/**
 * Many processes agree by the row's lock: each adds its reads, and one of them finds that the hour is over. Keys are
 * written in one order, so that two processes with the same keys cannot wait for each other. A new key is due at once.
 */
const COUNT_READS = prepared(
  'audit-count-reads',
  `with counted as (
     insert into audit_reads as r (${KEY}, unlisted, listed_at)
     select t.*, now() - interval '1 hour' from
       unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) as t (${KEY}, unlisted)
     order by 1, 2, 3, 4, 5
     on conflict (${KEY}) do update set unlisted = r.unlisted + excluded.unlisted
     returning r.*)
   select ${KEY}, unlisted::float8 as reads from counted where listed_at <= now() - interval '1 hour'`,
);

const LISTED = prepared(
  'audit-reads-listed',
  `update audit_reads r set unlisted = 0, listed_at = now()
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) as t (${KEY})
   where (r.tenant_id, r.actor, r.action, r.resource_type, r.resource_name) =
     (t.tenant_id, t.actor, t.action, t.resource_type, t.resource_name)`,
);

const LOCK_DUE = prepared(
  'audit-due-reads',
  `select ${KEY}, unlisted::float8 as reads from audit_reads
   where listed_at <= now() - interval '1 hour' and unlisted > 0 order by listed_at limit $1 for update skip locked`,
);

const FORGET = prepared(
  'audit-forget-reads',
  `delete from audit_reads where ctid = any(array(
     select ctid from audit_reads where listed_at <= now() - interval '1 hour' and unlisted = 0
     order by listed_at limit $1 for update skip locked))`,
);

type DueListing = Record<'tenant_id' | 'actor' | 'action' | 'resource_type' | 'resource_name', string> & {
  reads: number;
};

/**
 * Adds reads, each key once, in a system transaction. It lists the keys that are new or whose last row is an hour old.
 */
export async function countReads(tx: Tx, all: readonly ListingReads[]): Promise<void> {
  const due = await tx.query<DueListing>(COUNT_READS, [
    all.map((one) => one.tenantId),
    all.map((one) => one.actor),
    all.map((one) => one.action),
    all.map((one) => one.resourceType),
    all.map((one) => one.resourceName),
    all.map((one) => one.reads),
  ]);
  const requests = new Map(all.map((one) => [readKey(one), one.requestId]));
  await list(tx, due, (one) => requests.get(keyOfDue(one)) ?? null);
}

/** Identifies equal reads. */
export function readKey(one: Omit<ListingReads, 'reads' | 'requestId'>): string {
  return JSON.stringify([one.tenantId, one.actor, one.action, one.resourceType, one.resourceName]);
}

function keyOfDue(one: DueListing): string {
  return JSON.stringify([one.tenant_id, one.actor, one.action, one.resource_type, one.resource_name]);
}

async function list(
  tx: Tx,
  due: readonly DueListing[],
  requestIdOf: (one: DueListing) => string | null,
): Promise<void> {
  if (due.length === 0) return;
  const rows = due.map((one) => ({ ...one, id: newId('aud'), request_id: requestIdOf(one) }));
  await tx.repository(AuditLogEntity).insert(rows);
  await tx.query(LISTED, [
    due.map((one) => one.tenant_id),
    due.map((one) => one.actor),
    due.map((one) => one.action),
    due.map((one) => one.resource_type),
    due.map((one) => one.resource_name),
  ]);
}

/**
 * Lists the reads that no later read would list, an hour after the previous row, and deletes counters without new
 * reads.
 */
@Injectable()
export class ReadListing {
  @Recurring({ name: 'audit-reads', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const done = await transact('system', async (tx) => {
        const forgotten = await tx.query(FORGET, [BATCH]);
        const due = await tx.query<DueListing>(LOCK_DUE, [BATCH]);
        await list(tx, due, () => null);
        return due.length < BATCH && forgotten.length < BATCH;
      });
      if (done) return;
    }
  }
}

import { prepared, type Tx } from '@slipway/platform-database';
import type { DueWork } from './sweeper.js';

/** How long an ended operation, and with it its Idempotency-Key, is kept. */
const RETENTION_DAYS = 30;
const EVERY_MS = 60_000;

const DELETE_OPERATIONS = prepared(
  'retention-operations',
  `delete from operations where id in (
     select id from operations where completed_at < now() - make_interval(days => $1) order by completed_at limit 1000 for update skip locked)`,
);
const DELETE_KEYS = prepared(
  'retention-keys',
  `delete from idempotency_keys where ctid in (
     select ctid from idempotency_keys where created_at < now() - make_interval(days => $1) order by created_at limit 1000 for update skip locked)`,
);

/** Deletes what nobody can adopt any more, a bounded batch a minute. Events and the audit log stay. */
export class Retention implements DueWork {
  readonly name = 'retention';
  private last = 0;

  async sweep(tx: Tx): Promise<void> {
    if (Date.now() - this.last < EVERY_MS) return;
    this.last = Date.now();
    await tx.query(DELETE_OPERATIONS, [RETENTION_DAYS]);
    await tx.query(DELETE_KEYS, [RETENTION_DAYS]);
  }
}

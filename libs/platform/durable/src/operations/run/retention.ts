import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';
import { prepared, type Tx } from '@slipway/platform-database';
import { KeepsEvents, type NeedsEvents, type ExpiredEvents } from '../../events/index.js';
import { inBatches, Recurring, type Transact } from '../../scheduling/index.js';

const DELETE_OPERATIONS = prepared(
  'retention-operations',
  `with gone as (
     delete from operations where id = any(array(
       select id from operations where completed_at < now() - make_interval(days => $1) order by completed_at limit $2 for update skip locked))
     returning 1
   )
   select count(*)::int as count from gone`,
);

/** The first expired event of each stream that belongs to an operation whose record is kept, live or ended. */
const FIRST_OF_KEPT = prepared(
  'retention-operation-events',
  `select r.stream, needed.sequence::text as sequence from jsonb_to_recordset($1::jsonb) as r(stream text, first bigint, kept bigint)
   cross join lateral (
     select e.sequence from events e
     where e.stream = r.stream and e.sequence >= r.first and e.sequence < r.kept
       and exists (select from operations o where o.id = e.operation_id)
     order by e.sequence limit 1
   ) needed`,
);

/**
 * Deletes operations that no request can adopt any more, with their steps and their Idempotency-Keys. Their events are
 * not deleted before them: a client that can read an operation can read all of its events. The audit log stays.
 */
@Injectable()
@KeepsEvents('operations')
export class OperationRetention implements NeedsEvents {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'operator'>) {}

  @Recurring({ name: 'operation-retention', everySeconds: 60 })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    await inBatches(async (rows) => {
      const { operations_days } = retentionOf(this.config.operator);
      const gone = await transact('system', (tx) =>
        tx.one<{ count: number }>(DELETE_OPERATIONS, [operations_days, rows]),
      );
      return gone?.count === rows;
    }, stopping);
  }

  firstNeeded(tx: Tx, old: readonly ExpiredEvents[]): Promise<{ stream: string; sequence: string }[]> {
    return tx.query(FIRST_OF_KEPT, [JSON.stringify(old)]);
  }
}

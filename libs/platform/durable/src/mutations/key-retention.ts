import { Injectable } from '@nestjs/common';
import { prepared } from '@slipway/platform-database';
import { Recurring, type Transact } from '../scheduling/index.js';

/** For how many days an Idempotency-Key and its answer are kept. */
export const KEY_RETENTION_DAYS = 30;

const DELETE_KEYS = prepared(
  'retention-keys',
  `delete from idempotency_keys where ctid = any(array(
     select ctid from idempotency_keys where created_at < now() - make_interval(days => $1) order by created_at limit 1000 for update skip locked))`,
);

/** Deletes keys that no request can use any more, at most 1000 in a run. */
@Injectable()
export class KeyRetention {
  @Recurring({ name: 'key-retention', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(DELETE_KEYS, [KEY_RETENTION_DAYS]));
  }
}

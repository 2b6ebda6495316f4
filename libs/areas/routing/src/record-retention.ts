import { Inject, Injectable } from '@nestjs/common';
import {
  deletePassportsExpiredFor,
  deleteUsageOlderThan,
  deleteWindowsOlderThan,
  PASSPORT_RETENTION_SECONDS,
} from '@slipway/dataplane';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';
import { inBatches, Recurring, type Transact } from '@slipway/platform-durable/scheduling';

/** Deletes what gateways recorded long ago; they only add. */
@Injectable()
export class RecordRetention {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'operator'>) {}

  @Recurring({ name: 'gateway-records', everySeconds: 60 })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    const { statistics_days, usage_days } = retentionOf(this.config.operator);
    for (const [deleteOlderThan, days] of [
      [deleteWindowsOlderThan, statistics_days],
      [deleteUsageOlderThan, usage_days],
    ] as const)
      await inBatches(
        async (rows) => (await transact('system', (tx) => deleteOlderThan(tx, days, rows))) === rows,
        stopping,
      );
    await transact('system', (tx) => deletePassportsExpiredFor(tx, PASSPORT_RETENTION_SECONDS));
  }
}

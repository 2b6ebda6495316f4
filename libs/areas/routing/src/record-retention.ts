import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import {
  deletePassportsExpiredFor,
  deleteUsageOlderThan,
  deleteWindowsOlderThan,
  PASSPORT_RETENTION_SECONDS,
} from '@slipway/dataplane';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';
import { inBatches, Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';

/** Deletes what gateways recorded long ago; they only add. */
@Injectable()
export class RecordRetention implements RecurringWork, OnModuleInit {
  readonly name = 'gateway-records';
  readonly everySeconds = 60;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly schedule: Schedule,
  ) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

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

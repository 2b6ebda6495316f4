import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  deletePassportsExpiredFor,
  deleteUsageOlderThan,
  deleteWindowsOlderThan,
  PASSPORT_RETENTION_SECONDS,
  STATISTICS_RETENTION_SECONDS,
  USAGE_RETENTION_SECONDS,
} from '@slipway/dataplane';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';

/** Deletes what gateways recorded long ago; they only add. */
@Injectable()
export class RecordRetention implements RecurringWork, OnModuleInit {
  readonly name = 'gateway-records';
  readonly everySeconds = 60;

  constructor(private readonly schedule: Schedule) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => deleteWindowsOlderThan(tx, STATISTICS_RETENTION_SECONDS));
    await transact('system', (tx) => deleteUsageOlderThan(tx, USAGE_RETENTION_SECONDS));
    await transact('system', (tx) => deletePassportsExpiredFor(tx, PASSPORT_RETENTION_SECONDS));
  }
}

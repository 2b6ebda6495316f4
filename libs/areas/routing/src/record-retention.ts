import { Injectable, type OnModuleInit } from '@nestjs/common';
import { deletePassportsExpiredFor, deleteUsageOlderThan, deleteWindowsOlderThan } from '@slipway/dataplane';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';

/** Twice the default age up to which a policy accepts evidence. */
const STATISTICS_SECONDS = 14 * 86_400;
/** Longer than the longest month, so that one can be added up when it is over. */
const USAGE_SECONDS = 35 * 86_400;
/** An expired passport can still be looked at for a day. */
const PASSPORT_SECONDS = 86_400;

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
    await transact('system', (tx) => deleteWindowsOlderThan(tx, STATISTICS_SECONDS));
    await transact('system', (tx) => deleteUsageOlderThan(tx, USAGE_SECONDS));
    await transact('system', (tx) => deletePassportsExpiredFor(tx, PASSPORT_SECONDS));
  }
}

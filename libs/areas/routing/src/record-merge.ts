import { Injectable } from '@nestjs/common';
import { mergeNextRecords, type RecordSeconds } from '@slipway/dataplane';
import { inBatches, Recurring, type Transact } from '@slipway/platform-durable/scheduling';

/** Steps of one run. After an outage of a day, the records are complete again within some minutes. */
const MOST_STEPS = 500;

/**
 * Merges what gateways record each second to records of a minute and of an hour. Each step is a transaction of its own,
 * which also stores how far the merge is: a worker that is killed loses one step at most, and several workers take turns.
 */
@Injectable()
export class RecordMerge {
  @Recurring({ name: 'service-records', everySeconds: 10 })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    for (const seconds of [60, 3600] as const) await this.merge(seconds, transact, stopping);
  }

  private async merge(seconds: RecordSeconds, transact: Transact, stopping: AbortSignal | undefined): Promise<void> {
    let left = MOST_STEPS;
    await inBatches(async () => {
      left -= 1;
      return (await transact('system', (tx) => mergeNextRecords(tx, seconds))) && left > 0;
    }, stopping);
  }
}

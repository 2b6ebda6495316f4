import { Inject, Injectable } from '@nestjs/common';
import { Recurring, type Transact, inBatches } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { FORGOTTEN_HOLDS } from './route.query.js';
import { RouteStore } from './route.store.js';
import {
  deleteHoursOlderThan,
  deleteMinutesOlderThan,
  deletePassportsExpiredFor,
  deletePeaksOlderThan,
  deleteUsageOlderThan,
  deleteWindowsOlderThan,
  HOURS_KEPT_DAYS,
  mergeNextRecords,
  MINUTES_KEPT_DAYS,
  PASSPORT_RETENTION_SECONDS,
  PEAKS_KEPT_DAYS,
  type RecordSeconds,
} from '@slipway/dataplane';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';

/** Steps of one run. After an outage of a day, the records are complete again within some minutes. */
const MOST_STEPS = 500;

/**
 * Releases requests that wait for an operation which is over or lost. The end of an operation releases them too, but
 * this also covers operations that never reach their end.
 */
@Injectable()
export class ForgottenHolds {
  constructor(
    private readonly store: RouteStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  @Recurring({ name: 'route-holds', everySeconds: 5 })
  async run(transact: Transact): Promise<void> {
    const forgotten = await transact('system', (tx) => tx.query<{ deploymentId: string }>(FORGOTTEN_HOLDS));
    for (const { deploymentId } of forgotten) {
      await transact('system', async (tx) => {
        await this.deployments.lockById(tx, deploymentId);
        // Another operation may have taken the traffic in the meantime.
        const isForgotten = (await tx.query<{ deploymentId: string }>(FORGOTTEN_HOLDS)).some(
          (one) => one.deploymentId === deploymentId,
        );
        if (isForgotten) await this.store.endHold(tx, deploymentId);
      });
    }
  }
}

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

/** Deletes old records of gateways and what was merged from them: nothing else deletes them. */
@Injectable()
export class RecordRetention {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'operator'>) {}

  @Recurring({ name: 'gateway-records', everySeconds: 60 })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    const { statistics_days, usage_days } = retentionOf(this.config.operator);
    for (const [deleteOlderThan, days] of [
      [deleteWindowsOlderThan, statistics_days],
      [deleteUsageOlderThan, usage_days],
      [deleteMinutesOlderThan, MINUTES_KEPT_DAYS],
      [deleteHoursOlderThan, HOURS_KEPT_DAYS],
      [deletePeaksOlderThan, PEAKS_KEPT_DAYS],
    ] as const)
      await inBatches(
        async (rows) => (await transact('system', (tx) => deleteOlderThan(tx, days, rows))) === rows,
        stopping,
      );
    await transact('system', (tx) => deletePassportsExpiredFor(tx, PASSPORT_RETENTION_SECONDS));
  }
}

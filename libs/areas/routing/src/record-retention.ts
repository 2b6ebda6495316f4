import { Injectable, type OnModuleInit } from '@nestjs/common';
import { deletePassportsExpiredFor, deleteWindowsOlderThan } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { Sweeper, type DueWork } from '@slipway/platform-operations';

/** Twice the default age up to which a policy accepts evidence. */
const STATISTICS_SECONDS = 14 * 86_400;
/** An expired passport can still be looked at for a day. */
const PASSPORT_SECONDS = 86_400;
const EVERY_MS = 60_000;

/** Deletes what gateways recorded long ago; they only add. */
@Injectable()
export class RecordRetention implements DueWork, OnModuleInit {
  readonly name = 'gateway records';
  private last = 0;

  constructor(private readonly sweeper: Sweeper) {}

  onModuleInit(): void {
    this.sweeper.register(this);
  }

  async sweep(tx: Tx): Promise<void> {
    if (Date.now() - this.last < EVERY_MS) return;
    this.last = Date.now();
    await deleteWindowsOlderThan(tx, STATISTICS_SECONDS);
    await deletePassportsExpiredFor(tx, PASSPORT_SECONDS);
  }
}

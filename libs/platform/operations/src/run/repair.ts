import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { FREE } from './run.query.js';

/** Makes due again what a dead worker held. What is due is found by every worker that looks, whatever wake-up was lost. */
@Injectable()
export class OperationRepair implements RecurringWork, OnModuleInit {
  readonly name = 'operations';
  readonly everySeconds = 1;

  constructor(private readonly schedule: Schedule) {}

  onModuleInit(): void {
    this.schedule.register(this, { isRepair: true });
  }

  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(FREE));
  }
}

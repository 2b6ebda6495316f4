import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { DELETE_EXPIRED } from './console-session.query.js';

const BATCH = 1_000;

/** Sessions that have ended let nobody in; this takes their rows away. */
@Injectable()
export class SessionUpkeep implements RecurringWork, OnModuleInit {
  readonly name = 'console-sessions';
  readonly everySeconds = 60;

  constructor(private readonly schedule: Schedule) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(DELETE_EXPIRED, [BATCH]));
  }
}

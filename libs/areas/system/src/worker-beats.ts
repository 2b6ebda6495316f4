import { Injectable, type OnModuleInit } from '@nestjs/common';
import { newId } from '@slipway/platform-database';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { BEAT, FORGET_SILENT } from './system.query.js';
import { VERSION } from './version.js';

/** Each worker says that it lives, by the same schedule that does its recurring work. */
@Injectable()
export class WorkerBeats implements RecurringWork, OnModuleInit {
  readonly name = 'worker-beats';
  readonly everySeconds = 5;
  readonly workerId = newId('wrk');

  constructor(private readonly schedule: Schedule) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      await tx.query(BEAT, [this.workerId, VERSION]);
      await tx.query(FORGET_SILENT);
    });
  }
}

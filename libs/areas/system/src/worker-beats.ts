import { Injectable } from '@nestjs/common';
import { newId } from '@slipway/platform-database';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { BEAT, FORGET_SILENT } from './system.query.js';
import { VERSION } from './version.js';

/** Each worker says that it lives, by the same schedule that does its recurring work. */
@Injectable()
export class WorkerBeats {
  readonly workerId = newId('wrk');

  @Recurring({ name: 'worker-beats', everySeconds: 5 })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      await tx.query(BEAT, [this.workerId, VERSION]);
      await tx.query(FORGET_SILENT);
    });
  }
}

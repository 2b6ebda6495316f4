import { Injectable } from '@nestjs/common';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DELETE_EXPIRED } from './console-session.query.js';

const BATCH = 1_000;

/** Sessions that have ended let nobody in; this takes their rows away. */
@Injectable()
export class SessionUpkeep {
  @Recurring({ name: 'console-sessions', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(DELETE_EXPIRED, [BATCH]));
  }
}

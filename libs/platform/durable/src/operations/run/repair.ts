import { Injectable } from '@nestjs/common';
import { Recurring, type Transact } from '../../scheduling/index.js';
import { FREE } from './run.query.js';

/** Makes due again what a dead worker held. What is due is found by every worker that looks, whatever wake-up was lost. */
@Injectable()
export class OperationRepair {
  @Recurring({ name: 'operations', everySeconds: 1, isRepair: true })
  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(FREE));
  }
}

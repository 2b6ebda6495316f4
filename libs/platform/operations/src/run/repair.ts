import { Injectable, type OnModuleInit } from '@nestjs/common';
import { prepared } from '@slipway/platform-database';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { FREE } from './run.query.js';

/** How long an ended operation, and with it its Idempotency-Key, is kept. */
export const OPERATION_RETENTION_DAYS = 30;

const DELETE_OPERATIONS = prepared(
  'retention-operations',
  `delete from operations where id in (
     select id from operations where completed_at < now() - make_interval(days => $1) order by completed_at limit 1000 for update skip locked)`,
);

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

/** Deletes operations that nobody can adopt any more, a bounded batch a minute. Events and the audit log stay. */
@Injectable()
export class OperationRetention implements RecurringWork, OnModuleInit {
  readonly name = 'operation-retention';
  readonly everySeconds = 60;

  constructor(private readonly schedule: Schedule) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(DELETE_OPERATIONS, [OPERATION_RETENTION_DAYS]));
  }
}

import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { prepared } from '@slipway/platform-database';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { REPAIR } from './run.query.js';

/** How long an ended operation, and with it its Idempotency-Key, is kept. */
const RETENTION_DAYS = 30;

const DELETE_OPERATIONS = prepared(
  'retention-operations',
  `delete from operations where id in (
     select id from operations where completed_at < now() - make_interval(days => $1) order by completed_at limit 1000 for update skip locked)`,
);

/** Puts live operations that nobody works on back into the outbox. It needs no input, whatever was lost and whoever died. */
@Injectable()
export class OperationRepair implements RecurringWork, OnModuleInit {
  readonly name = 'operations';
  readonly everySeconds = 1;
  private readonly graceSeconds: number;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'leaseSeconds'>,
    private readonly schedule: Schedule,
  ) {
    // Long enough for a queue that works to deliver first, short against the lease.
    this.graceSeconds = Math.max(1, Math.min(5, config.leaseSeconds / 4));
  }

  onModuleInit(): void {
    this.schedule.register(this, { isRepair: true });
  }

  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(REPAIR, [this.graceSeconds]));
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
    await transact('system', (tx) => tx.query(DELETE_OPERATIONS, [RETENTION_DAYS]));
  }
}

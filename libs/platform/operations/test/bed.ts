import { jest } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import pg from 'pg';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { migrations, OperationsModule, OperationStore } from '../src/index.js';

export const TENANT = newId('ten');
export const ACTOR = { type: 'token', id: 'test' };
const DEADLINE_MS = 20_000;

/** The parts of this library on a database of their own. Nothing moves by itself: no worker runs. */
export class OperationsBed {
  private constructor(
    readonly module: TestingModule,
    readonly database: Database,
    readonly store: OperationStore,
    private readonly testDatabase: TestDatabase,
  ) {}

  static async start(): Promise<OperationsBed> {
    const testDatabase = await createTestDatabase([...databaseMigrations, ...migrations]);
    const config = {
      database: { url: testDatabase.url, migrateUrl: testDatabase.ownerUrl, embedded: false, poolSize: 8 },
      leaseSeconds: 30,
    } as Config;
    const module = await Test.createTestingModule({
      imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config), OperationsModule.forApi()],
    }).compile();
    return new OperationsBed(module, module.get(Database), module.get(OperationStore), testDatabase);
  }

  async stop(): Promise<void> {
    await this.module.close();
    await this.testDatabase.drop();
  }

  /** Accepts an operation, which puts its first wake-up into the outbox. */
  begin(): Promise<string> {
    return this.database.tx({ tenantId: TENANT }, async (tx) => {
      const claim = { kind: 'probe', resourceType: 'thing', resourceName: 'thing', requestedBy: ACTOR };
      const { id } = await this.store.claim(tx, claim);
      await this.store.start(tx, id, { resourceId: 'thing', stream: `operation/${id}`, input: {}, steps: ['only'] });
      return id;
    });
  }

  /** As the system, in a transaction of its own. */
  async sql<R = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<R[]> {
    return this.database.tx('system', (tx) => tx.query<R>(text, values));
  }

  outbox(): Promise<{ id: string; dispatch: number }[]> {
    return this.sql('select operation_id as id, dispatch from outbox order by outbox.id');
  }

  /** As the owner of the server, who sees what every connection does. */
  async asOwner<R extends pg.QueryResultRow>(text: string): Promise<R[]> {
    const owner = new pg.Client({ connectionString: this.testDatabase.ownerUrl });
    await owner.connect();
    try {
      return (await owner.query<R>(text)).rows;
    } finally {
      await owner.end();
    }
  }

  /** Resolves when a statement of this database waits for a lock. */
  somebodyWaits(): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return until('somebody waits for a lock', async () => (await this.asOwner(waiting)).length > 0);
  }

  /** Ends this process's LISTEN connection, as a restart of Postgres does; what is notified meanwhile is lost. */
  async cutNotifications(): Promise<void> {
    await this.asOwner(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'slipway-listen'`,
    );
  }
}

/** Waits for a condition that has a name. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Something that happens when a test says so. */
export class Pending<T = void> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

/** Intervals pass when a test says so (`jest.advanceTimersByTime`); everything else takes its time. */
export function holdIntervals(): void {
  const names = ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
  const timers = ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const;
  jest.useFakeTimers({ doNotFake: [...names, ...timers] });
}

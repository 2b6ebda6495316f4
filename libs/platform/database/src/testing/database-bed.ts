import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import pg from 'pg';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database } from '../database.js';
import { DatabaseModule } from '../database.module.js';
import type { Migration } from '../schema.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { until } from './waiting.js';

export { dataSourceOptions } from '../database.module.js';

/** Sets up the providers of a library on a database of their own, for its specs. */
export class DatabaseBed {
  readonly database: Database;

  protected constructor(
    readonly module: TestingModule,
    private readonly testDatabase: TestDatabase,
  ) {
    this.database = module.get(Database);
  }

  static async start(
    options: { migrations: readonly Migration[] } & Pick<ModuleMetadata, 'imports' | 'providers'>,
  ): Promise<DatabaseBed> {
    return new DatabaseBed(...(await DatabaseBed.open(options)));
  }

  protected static async open({
    migrations,
    imports = [],
    providers = [],
  }: Parameters<typeof DatabaseBed.start>[0]): Promise<[TestingModule, TestDatabase]> {
    const testDatabase = await createTestDatabase(migrations);
    const config = {
      env: 'test',
      database: { url: testDatabase.url, migrateUrl: testDatabase.ownerUrl, embedded: false, poolSize: 8 },
      leaseSeconds: 30,
      operator: { targets: [], secrets: {} },
      rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
      gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    } as unknown as Config;
    const module = await Test.createTestingModule({
      imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config), ...imports],
      providers,
    }).compile();
    return [module, testDatabase];
  }

  /** The url of the application's login. */
  get url(): string {
    return this.testDatabase.url;
  }

  async stop(): Promise<void> {
    await this.module.close();
    await this.testDatabase.drop();
  }

  /** Runs SQL as the system, in a transaction of its own. */
  async sql<R = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<R[]> {
    return this.database.tx('system', (tx) => tx.query<R>(text, values));
  }

  /** Runs SQL as the owner of the server, who sees the activity of every connection. */
  async asOwner<R extends pg.QueryResultRow>(text: string): Promise<R[]> {
    const owner = new pg.Client({ connectionString: this.testDatabase.ownerUrl });
    await owner.connect();
    try {
      return (await owner.query<R>(text)).rows;
    } finally {
      await owner.end();
    }
  }

  /** Runs `work` while another transaction holds the locks that a statement takes. */
  async whileLocked<T>(text: string, values: unknown[], work: () => Promise<T>): Promise<T> {
    const owner = new pg.Client({ connectionString: this.testDatabase.ownerUrl });
    await owner.connect();
    try {
      await owner.query('begin');
      await owner.query(text, values);
      return await work();
    } finally {
      await owner.end();
    }
  }

  /** Resolves when a statement of this database waits for a lock. */
  somebodyWaits(): Promise<void> {
    return this.someWait(1);
  }

  /** Resolves when at least so many sessions wait for locks. */
  someWait(count: number): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return until(`${count} wait for locks`, async () => (await this.asOwner(waiting)).length >= count);
  }

  /** Ends this process's LISTEN connection, as a restart of Postgres does; notifications sent meanwhile are lost. */
  async cutNotifications(): Promise<void> {
    await this.asOwner(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'slipway-listen'`,
    );
  }
}

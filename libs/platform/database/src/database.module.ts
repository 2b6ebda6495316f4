import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Config } from '@slipway/platform-config';
import pg from 'pg';
import { getMetadataArgsStorage, type DataSourceOptions } from 'typeorm';
import { SnakeCaseColumns } from './rows.js';
import { Database } from './database.js';
import { TRANSACTION_WATCH, NO_WATCH, TestTransactionWatch } from './tx.js';
import { Notifications } from './notifications.js';
import { PipelinedReader } from './pipelined-reader.js';

/**
 * Connection settings. The entities are those of every library that this process has imported, so there is no other
 * list of them.
 */
export function dataSourceOptions(url: string, poolSize: number): DataSourceOptions {
  return {
    type: 'postgres',
    // In a bundle, TypeORM would look for the package in vain.
    driver: pg,
    url,
    entities: getMetadataArgsStorage().tables.map((table) => table.target),
    namingStrategy: new SnakeCaseColumns(),
    synchronize: false,
    migrationsRun: false,
    logging: false,
    applicationName: 'slipway',
    poolSize,
    extra: { ...CONNECTION, pipeline: true, idleTimeoutMillis: 30_000 },
  };
}

/** The settings of every connection that answers requests. */
const CONNECTION = {
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  // Without it the operating system checks an idle peer only after two hours.
  keepAliveInitialDelayMillis: 10_000,
  statement_timeout: 15_000,
  // Longer than Postgres needs to cancel a statement itself, so it takes effect only if Postgres is gone. It also
  // closes the connection.
  query_timeout: 20_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 30_000,
};

@Module({})
export class DatabaseModule {
  static forRoot(config: Pick<Config, 'database'> & Partial<Pick<Config, 'env'>>): DynamicModule {
    const { url, poolSize } = config.database;
    return {
      module: DatabaseModule,
      global: true,
      imports: [TypeOrmModule.forRoot({ ...dataSourceOptions(url, poolSize), retryAttempts: 10, retryDelay: 500 })],
      providers: [
        Database,
        { provide: TRANSACTION_WATCH, useValue: config.env === 'test' ? new TestTransactionWatch() : NO_WATCH },
        { provide: Notifications, useFactory: () => new Notifications(url) },
        {
          provide: PipelinedReader,
          useFactory: () =>
            new PipelinedReader({ ...CONNECTION, connectionString: url, application_name: 'slipway-read' }),
        },
      ],
      exports: [Database],
    };
  }
}

import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { migrations as platformMigrations } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { migrations, type NamedSql, type QueryClient } from '../src/index.js';

/** A database for one spec, with a session as the system role. */
export class DataplaneConnection {
  private database!: TestDatabase;
  private client!: pg.Client;

  /** Exists from before the first test of the spec until after its last. */
  static ofSpec(): DataplaneConnection {
    const connection = new DataplaneConnection();
    beforeAll(async () => {
      connection.database = await createTestDatabase([...platformMigrations, ...migrations]);
      connection.client = await sessionAt(connection.url);
    });
    afterAll(() => connection.close());
    return connection;
  }

  /** Opens another session in the same database; `close` ends only that one. */
  async another(): Promise<DataplaneConnection> {
    const other = new DataplaneConnection();
    other.database = { ...this.database, drop: async () => undefined };
    other.client = await sessionAt(this.url);
    return other;
  }

  readonly db: QueryClient = {
    query: async <R>(statement: NamedSql, values: unknown[] = []) =>
      (await this.client.query({ ...statement, values })).rows as R[],
  };

  /** URL of the application's login. */
  get url(): string {
    return this.database.url;
  }

  async sql<R = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.client.query(text, values)).rows as R[];
  }

  /** Returns every notification on the channel while `work` ran, in order. */
  async heard(channel: string, work: () => Promise<unknown>): Promise<string[]> {
    const told: string[] = [];
    const listener = new pg.Client({ connectionString: this.database.url });
    await listener.connect();
    try {
      listener.on('notification', ({ payload }) => told.push(payload ?? ''));
      await listener.query(`listen ${channel}`);
      await work();
      // Notifications arrive before the answer to a later query.
      await listener.query('select 1');
      return told;
    } finally {
      await listener.end();
    }
  }

  async close(): Promise<void> {
    await this.client?.end();
    await this.database?.drop();
  }
}

async function sessionAt(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set role slipway_system');
  return client;
}

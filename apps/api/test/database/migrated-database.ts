import pg from 'pg';
import type { Migration } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';

/** A database with these migrations, read as its owner, whom row-level security does not restrict. */
export class MigratedDatabase {
  private constructor(
    private readonly database: TestDatabase,
    private readonly owner: pg.Client,
  ) {}

  static async start(migrations: readonly Migration[]): Promise<MigratedDatabase> {
    const database = await createTestDatabase(migrations);
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    return new MigratedDatabase(database, owner);
  }

  get ownerUrl(): string {
    return this.database.ownerUrl;
  }

  /** Of api and worker. */
  get url(): string {
    return this.database.url;
  }

  async rowsOf(sql: string): Promise<any[]> {
    return (await this.owner.query(sql)).rows;
  }

  async stop(): Promise<void> {
    await this.owner.end();
    await this.database.drop();
  }
}

import { randomUUID } from 'node:crypto';
import { childEnvironment } from '@slipway/platform-config';
import pg from 'pg';

const APP = 'slipway_app';

/**
 * A database as the page of the chart requires it: empty, with the login of api and worker, which is neither superuser
 * nor owner.
 */
export class EmptyDatabase {
  private constructor(
    private readonly adminUrl: string,
    private readonly name: string,
  ) {}

  static async create(): Promise<EmptyDatabase> {
    // The server that Jest's global setup starts.
    const adminUrl = childEnvironment()['TEST_PG_URL'];
    if (!adminUrl) throw new Error('TEST_PG_URL is not set: the global setup of Jest did not run');
    const database = new EmptyDatabase(adminUrl, `chart_${randomUUID().replaceAll('-', '')}`);
    await database.run(
      // Other tests create the same login, with its name as its password.
      `do $$ begin create role ${APP} login nosuperuser nocreatedb nocreaterole noinherit nobypassrls password '${APP}';
       exception when duplicate_object or unique_violation then null; end $$`,
      `create database ${database.name}`,
      `grant connect, create, temporary on database ${database.name} to ${APP}`,
    );
    return database;
  }

  get ownerUrl(): string {
    const url = new URL(this.adminUrl);
    url.pathname = `/${this.name}`;
    return url.toString();
  }

  get appUrl(): string {
    return this.urlOf(APP);
  }

  /** URL of a login that the migration creates. */
  get gatewayUrl(): string {
    return this.urlOf('slipway_gateway_app');
  }

  drop(): Promise<void> {
    return this.run(`drop database if exists ${this.name} with (force)`);
  }

  private urlOf(login: string): string {
    const url = new URL(this.ownerUrl);
    [url.username, url.password] = [login, login];
    return url.toString();
  }

  private async run(...statements: string[]): Promise<void> {
    const admin = new pg.Client({ connectionString: this.adminUrl });
    await admin.connect();
    try {
      for (const statement of statements) await admin.query(statement);
    } finally {
      await admin.end();
    }
  }
}

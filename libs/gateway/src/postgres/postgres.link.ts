import pg from 'pg';
import { migrations, type NamedSql, type QueryClient } from '@slipway/dataplane';
import { schemaProblem } from '@slipway/platform-database/schema';

/** A statement without an answer for this long is abandoned: on a silent network nothing else would end it. */
const ANSWER_WITHIN_MS = 3_000;
const CONNECT_WITHIN_MS = 2_000;

/**
 * A few connections as the gateway's role, without the platform's `Database`: the gateway must start, and stay small,
 * without Nest and TypeORM. Errors are thrown, and the caller decides what the absence of Postgres means; nothing is
 * retried here.
 */
export class PostgresLink implements QueryClient {
  private readonly pool: pg.Pool;

  constructor(url: string, connections = 3) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      idleTimeoutMillis: 30_000,
      application_name: 'slipway-gateway',
    });
    // An idle connection that dies needs no action: the next query opens another.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => {
      // While a connection is in use the pool does not listen; its death rejects the query and must not end the
      // process.
      client.on('error', () => undefined);
      // Sent before the first query on this connection. If it fails, that query fails on its permissions.
      client.query('set role slipway_gateway').catch(() => undefined);
    });
  }

  async query<R = Record<string, unknown>>(statement: NamedSql, values: unknown[] = []): Promise<R[]> {
    const client = await this.pool.connect();
    try {
      const result = await client.query({ name: statement.name, text: statement.text, values });
      client.release();
      return result.rows as R[];
    } catch (error) {
      // After a timeout the answer may still arrive and would be taken for that of the next query.
      client.release(true);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

const KNOWN_MIGRATIONS = migrations.map(({ name }) => name);
/** Shorter than what a start without Postgres may take. */
const SCHEMA_PATIENCE_MS = 1_500;

/**
 * Returns in one line why a gateway of this version must not serve from this database. It judges only the migrations of
 * the data plane, which made what it reads. Returns undefined if Postgres is down too: then the snapshot on disk is
 * served.
 */
export function unfitSchema(databaseUrl: string): Promise<string | undefined> {
  const check = {
    known: KNOWN_MIGRATIONS,
    concerns: (name: string) => name.startsWith('Dataplane'),
    patienceMs: SCHEMA_PATIENCE_MS,
  };
  return schemaProblem(databaseUrl, check).catch(() => undefined);
}

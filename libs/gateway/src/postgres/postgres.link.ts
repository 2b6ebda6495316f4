import pg from 'pg';
import type { NamedSql, Queryable } from '@slipway/dataplane';

/** A statement without an answer for this long is given up: behind a silent network nothing else would end it. */
const ANSWER_WITHIN_MS = 3_000;
const CONNECT_WITHIN_MS = 2_000;

/**
 * A few connections as the gateway's role, outside the platform's `Database`: the gateway must start, and stay small, without
 * Nest and TypeORM. Errors are thrown to the caller, who decides what Postgres' absence means; nothing is retried here.
 */
export class PostgresLink implements Queryable {
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
    // An idle connection that dies is no event: the next query opens another.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => {
      // While a connection is in use the pool does not listen; its death rejects the query and must not end the process.
      client.on('error', () => undefined);
      // Sent ahead of the first query on this connection. When it fails, that query fails on its permissions.
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
      // After a timeout the answer may still come and would be taken for that of the next query.
      client.release(true);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

import { createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import pg from 'pg';
import { IDLE_POLL_SECONDS, QUEUE_NAME, queueOptions, workerOptions, type QueueBackend } from './queue-session.js';

const SCHEMA = 'bullmq';

/** One of them carries the worker's LISTEN. A process that only adds opens one or two. */
export const POSTGRES_CONNECTIONS = 6;

const bull = withBackend(createPostgresBackend);

class PostgresWorker extends bull.Worker<{ operationId: string }> {
  /** While a delayed job is kept, BullMQ would wait for its time, up to an hour, even if it missed a notification. */
  protected override getBlockTimeout(blockUntil: number): number {
    return Math.min(super.getBlockTimeout(blockUntil), IDLE_POLL_SECONDS);
  }

  stopRenewals(): Promise<void> {
    return this.lockManager.close();
  }
}

/** Null if the schema or its main table does not exist. The number changes when the table is created again. */
const FIND_JOB_TABLE = `select to_regclass('${SCHEMA}.job')::oid::text as id`;

/**
 * Connects, and creates BullMQ's schema if it is missing. Queue and Worker share one pool of ours; otherwise each would
 * open its own.
 */
export async function openPostgresBackend(databaseUrl: string): Promise<QueueBackend> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POSTGRES_CONNECTIONS,
    application_name: 'slipway-queue',
    // The queue holds the only copy of nothing. If a crash of the server loses a wake-up, the worker's next poll finds
    // the operation.
    options: `-c search_path=${SCHEMA} -c synchronous_commit=off`,
    keepAlive: true,
    connectionTimeoutMillis: 3000,
    query_timeout: 5000,
  });
  // A dropped idle connection needs no handling: the next query opens another one, or fails and is reported.
  pool.on('error', () => undefined);
  // The pool listens only to idle clients. A client that is dropped between two queries of its user would end the
  // process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await migrateSchema(pool);
  } catch (error) {
    void pool.end();
    throw error;
  }
  return new PostgresBackend(pool);
}

async function migrateSchema(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await runMigrations(client, SCHEMA);
    const found = await client.query<{ id: string | null }>(FIND_JOB_TABLE);
    if (found.rows[0]?.id) return;
    // The ledger says complete, but the tables do not exist: half of the schema was dropped. It holds the only copy of
    // nothing.
    await client.query(`drop schema if exists ${SCHEMA} cascade`);
    await runMigrations(client, SCHEMA);
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}

class PostgresBackend implements QueueBackend {
  constructor(private readonly pool: pg.Pool) {}

  openQueue() {
    return new bull.Queue(QUEUE_NAME, { ...queueOptions, connection: this.pool });
  }

  async openWorker(process: (operationId: string) => Promise<void>, concurrency: number) {
    return new PostgresWorker(QUEUE_NAME, (job) => process(job.data.operationId), {
      ...workerOptions,
      concurrency,
      connection: this.pool,
    });
  }

  async identity(): Promise<string> {
    const found = await this.pool.query<{ id: string | null }>(FIND_JOB_TABLE);
    const id = found.rows[0]?.id;
    if (!id) throw new Error(`the schema "${SCHEMA}" does not exist`);
    return id;
  }

  async disconnect(): Promise<void> {
    await this.pool.end();
  }
}

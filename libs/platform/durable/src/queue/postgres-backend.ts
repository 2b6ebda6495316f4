import { createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import pg from 'pg';
import { IDLE_POLL_SECONDS, QUEUE_NAME, queueOptions, workerOptions, type QueueBackend } from './queue-session.js';

const SCHEMA = 'bullmq';

/** One of them carries the worker's LISTEN. A process that only adds opens one or two. */
export const POSTGRES_CONNECTIONS = 6;

const bull = withBackend(createPostgresBackend);

class PostgresWorker extends bull.Worker<{ operationId: string }> {
  /** While a delayed job is kept, BullMQ would wait for its time, up to an hour, whatever notification it missed. */
  protected override getBlockTimeout(blockUntil: number): number {
    return Math.min(super.getBlockTimeout(blockUntil), IDLE_POLL_SECONDS);
  }

  stopRenewals(): Promise<void> {
    return this.lockManager.close();
  }
}

/** Null when the schema or its main table is not there, another number after it was made again. */
const FIND_JOB_TABLE = `select to_regclass('${SCHEMA}.job')::oid::text as id`;

/**
 * Connects and makes BullMQ's schema if it is missing. Queue and Worker share one pool of ours: left to itself, each
 * would open its own.
 */
export async function openPostgresBackend(databaseUrl: string): Promise<QueueBackend> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POSTGRES_CONNECTIONS,
    application_name: 'slipway-queue',
    // Nothing in here is the only copy of anything: a wake-up that a crash of the server takes away waits for the worker's next look.
    options: `-c search_path=${SCHEMA} -c synchronous_commit=off`,
    keepAlive: true,
    connectionTimeoutMillis: 3000,
    query_timeout: 5000,
  });
  // A dropped idle connection is no event: the next query opens another, or fails and is reported.
  pool.on('error', () => undefined);
  // The pool listens to idle ones only. One that is dropped between two queries of its user would end the process.
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
    // The ledger says complete, the tables are gone: somebody dropped half. Nothing in here is the only copy of anything.
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

import { Redis } from 'ioredis';
import pg from 'pg';
import { migrations } from '@slipway/platform-database';
import { createTestDatabase } from '@slipway/platform-database/testing';
import type { Config } from '@slipway/platform-config';
import { TcpProxy } from './tcp-proxy.js';

/** A backend that a test may damage. */
export interface TestBackend {
  config: Pick<Config, 'queue' | 'database'>;
  proxy: TcpProxy;
  /** Destroys everything that the queue stores, as an operator's mistake would. */
  wipe(): Promise<void>;
  /** Makes the server end all connections of the queue. */
  killConnections(): Promise<void>;
  /** Runs SQL as the owner of the database (Postgres only). */
  sql?(text: string): Promise<void>;
  remove(): Promise<void>;
}

export async function postgresTestBackend(): Promise<TestBackend> {
  const database = await createTestDatabase(migrations);
  const url = new URL(database.url);
  const proxy = new TcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  const databaseUrl = await proxy.address(database.url);
  const sql = (text: string) => query(database.ownerUrl, text);
  return {
    config: { queue: { backend: 'postgres' }, database: { url: databaseUrl } as Config['database'] },
    proxy,
    sql,
    wipe: () => unlessDeadlocked(() => sql('drop schema bullmq cascade')),
    killConnections: () =>
      sql(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      ),
    remove: async () => {
      await proxy.cut();
      await database.drop();
    },
  };
}

async function query(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Dropping tables that are in use may deadlock with their users, so this tries again. */
async function unlessDeadlocked(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01' || attempt === 5) throw error;
    }
  }
}

/** A logical database of its own: other tests use the server at the same time, so FLUSHDB replaces FLUSHALL. */
const REDIS_TEST_DATABASE = 9;

export async function redisTestBackend(redisUrl: string): Promise<TestBackend> {
  const url = new URL(redisUrl);
  url.pathname = `/${REDIS_TEST_DATABASE}`;
  const proxy = new TcpProxy({ host: url.hostname, port: Number(url.port || 6379) });
  const proxied = await proxy.address(url.toString());
  const command = async (...words: [string, ...string[]]) => {
    const client = new Redis(url.toString());
    try {
      await client.call(...words);
    } finally {
      client.disconnect();
    }
  };
  await command('FLUSHDB');
  return {
    config: { queue: { backend: 'redis', redisUrl: proxied }, database: {} as Config['database'] },
    proxy,
    wipe: () => command('FLUSHDB'),
    killConnections: async () => proxy.dropConnections(),
    remove: async () => {
      await proxy.cut();
      await command('FLUSHDB');
    },
  };
}

export async function redisAnswers(redisUrl: string | undefined): Promise<boolean> {
  if (!redisUrl) return false;
  const client = new Redis(redisUrl, { lazyConnect: true, connectTimeout: 2000, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

import { fileURLToPath } from 'node:url';
import { figureOfEvents } from '../figure.js';
import { compareRounds, skippedFinding, type Finding } from '../finding.js';
import { startRedis } from '../redis.js';
import type { Stand } from '../stand.js';
import {
  compareEngines,
  cpuOf,
  forgetFirst,
  emptyFigures,
  runBatch,
  measureStartTimes,
  type BatchFigures,
  type DurableEngine,
} from './durable.js';

const BARE_BULLMQ = fileURLToPath(new URL('../../src/peers/bullmq.mjs', import.meta.url));
/** Each step of an engine that does not store steps itself writes one row here. */
export const STEPS_TABLE = `create table if not exists bench_steps (operation_id text not null, step int not null, at timestamptz not null default now(), primary key (operation_id, step))`;
/** A single tenant gets three quarters of a worker's slots: 20 of these. */
const SLOTS = '26';
const WORKS = ['runner', 'claim-loop', 'path'] as const;

type Work = (typeof WORKS)[number];

/**
 * Compares operations of five trivial steps at concurrency 20: our runner and a claim loop over one table with the same
 * commits.
 */
export async function operations(stand: Stand): Promise<Finding[]> {
  await prepare(stand);
  const ours = await startOurEngine(stand);
  const batches: Record<Work, BatchFigures> = {
    runner: emptyFigures(),
    'claim-loop': emptyFigures(),
    path: emptyFigures(),
  };
  const count = stand.sized(1_000, 100, 5);
  for (let round = 0; round <= stand.slices.rounds; round += 1) {
    for (const work of WORKS) {
      const prefix = `${work}${round}-`;
      if (work !== 'path') await fill(stand, work, prefix, count);
      await runBatch(ours, { work, prefix, count }, batches[work]);
    }
  }
  Object.values(batches).forEach(forgetFirst);
  const limit = batches['claim-loop'];
  const row = (work: Work, what: string): Finding =>
    compareRounds(
      `operations: ${what}`,
      '/s',
      { ours: batches[work].rates, limit: limit.rates },
      `CPU ms per operation (ours, worker + Postgres): ${cpuOf(batches[work])}; limit's: ${cpuOf(limit)}; limit: claim loop over one table, one statement for each commit of a step`,
    );
  return [
    row('runner', 'runner, 5 steps'),
    row('path', 'accept → queue → runner, 5 steps'),
    {
      name: 'operations: accepted → first step',
      ours: figureOfEvents('ms', await measureStartTimes(stand, ours)),
      limit: null,
      ratio: null,
      notes: 'at 20 operations/s, created_at → started_at',
    },
  ];
}

/**
 * The same comparison with Redis as the queue, if there is one, against bare BullMQ that commits the same five steps to
 * Postgres.
 */
export async function operationsOnRedis(stand: Stand): Promise<Finding[]> {
  const name = 'operations on Redis';
  const redis = await startRedis();
  if (!redis) return [skippedFinding(name, 'redis-server is not on the PATH, or failed to start')];
  try {
    await prepare(stand);
    const own = { QUEUE_BACKEND: 'redis', REDIS_URL: redis.url };
    const servers = [stand.postgres.pid, redis.pid];
    const ours = { ...(await startOurEngine(stand, own)), servers };
    const limit = { child: (await stand.program(BARE_BULLMQ, [stand.adminUrl, 'redis', redis.url])).child, servers };
    const notes =
      'limit: bare BullMQ on the same Redis, five commits to the same Postgres, no operations that can be read';
    return await compareEngines(stand, name, { ours, limit }, notes);
  } finally {
    await stand.clear().finally(redis.stop);
  }
}

/**
 * Starts one of our workers, with an operation of five steps that do nothing.
 * @param own additional environment variables
 */
export async function startOurEngine(stand: Stand, own: Record<string, string> = {}): Promise<DurableEngine> {
  const { child } = await stand.limit('operations-worker', [stand.postgres.appUrl, stand.adminUrl], {
    SLIPWAY_WORKER_CONCURRENCY: SLOTS,
    ...own,
  });
  return { child, servers: [stand.postgres.pid] };
}

/** Creates the tables of the claim loop and of the programs of other engines. */
export async function prepare(stand: Stand): Promise<void> {
  await stand.admin.query(
    `create table if not exists bench_operations (id text primary key, state text not null, step int not null default 0, worker text) with (fillfactor = 70)`,
  );
  await stand.admin.query(STEPS_TABLE);
  await stand.admin.query(`create index if not exists bench_waiting on bench_operations (id) where state = 'waiting'`);
}

/** Inserts accepted operations without notifying a queue: the child process runs them itself. */
async function fill(stand: Stand, work: 'runner' | 'claim-loop', prefix: string, count: number): Promise<void> {
  if (work === 'claim-loop') {
    await stand.admin.query(
      `insert into bench_operations (id, state) select $1 || n, 'waiting' from generate_series(1, $2::int) n`,
      [prefix, count],
    );
    return;
  }
  const who = JSON.stringify({ type: 'system', id: 'bench' });
  // One statement, because a worker that still receives jobs of the previous batch could claim some rows at once.
  await stand.admin.query(
    `with made as (
       insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, current_step, requested_by)
       select $1 || n, 'ten_bench', 'bench', 'thing', 'thing', 'thing', 'operation/' || $1 || n, 'one', $3 from generate_series(1, $2::int) n
       returning id)
     insert into operation_steps (operation_id, tenant_id, name, index)
     select made.id, 'ten_bench', s.name, s.i - 1 from made, unnest(array['one','two','three','four','five']) with ordinality as s(name, i)`,
    [prefix, count, who],
  );
}

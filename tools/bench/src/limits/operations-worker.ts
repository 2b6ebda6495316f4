import { setTimeout as delay } from 'node:timers/promises';
import { Global, Injectable, Module } from '@nestjs/common';
import pg from 'pg';
import { Database } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  LOOK_EVERY_MS,
  OperationRunner,
  OperationStore,
  type OperationOf,
} from '@slipway/platform-durable/operations';
import { startEngine } from './engine-context.js';

// A worker process with one kind of operation, five steps that do nothing, and the claim loop that it is compared with.
const CONCURRENCY = 20;
const STEPS = ['one', 'two', 'three', 'four', 'five'] as const;
const NOTHING = async () => done();
const CLAIM_ROW = {
  name: 'bench-claim',
  text: `update bench_operations set state = 'running', worker = 'w' where id = (
    select id from bench_operations where state = 'waiting' order by id limit 1 for update skip locked) returning id`,
};
const COMMIT_STEP = {
  name: 'bench-step',
  text: `with guarded as (update bench_operations set step = $2, state = case when $2 = $3::int then 'done' else state end where id = $1 and worker = 'w' returning id)
    insert into bench_steps (operation_id, step) select id, $2 from guarded`,
};
const TENANT = 'ten_bench';
const WHO = { type: 'system', id: 'bench' } as const;

const BENCH = defineOperation({ kind: 'bench', input: inputOf<object>(), steps: STEPS });

@Injectable()
@DurableOperation(BENCH)
class BenchOperation implements OperationOf<typeof BENCH> {
  readonly steps = { one: NOTHING, two: NOTHING, three: NOTHING, four: NOTHING, five: NOTHING };
  readonly unwind = {};
}

/** The worker claims only what the queue signals, and not the operations that this program runs itself. */
const NO_LOOKING = { provide: LOOK_EVERY_MS, useValue: 0 };

@Global()
@Module({ providers: [BenchOperation, NO_LOOKING], exports: [NO_LOOKING] })
class BenchModule {}

const context = await startEngine(BenchModule);
const database = context.get(Database);
const store = context.get(OperationStore, { strict: false });
const runner = context.get(OperationRunner, { strict: false });
const admin = new pg.Pool({ connectionString: process.argv[3] as string, max: CONCURRENCY });
let accepted = 0;
process.on('disconnect', () => process.exit(0));
process.on('message', (order: { work: string; prefix: string; count: number }) => {
  perform(order).then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ error: error.stack }),
  );
});
process.send?.(0);

async function perform({ work, prefix, count }: { work: string; prefix: string; count: number }): Promise<object> {
  if (work === 'steady') return { latencies: await runSteadily(count) };
  const cpu = process.cpuUsage();
  const begin = performance.now();
  if (work === 'runner') await runAll();
  else if (work === 'claim-loop') await runClaimLoop(admin, CONCURRENCY, STEPS.length);
  else await runPath(count);
  if (work === 'runner') await waitUntilAllSucceeded(prefix, count);
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.now() - begin;
  return { done: count, ms, cpuMs: (user + system) / 1_000 };
}

/**
 * Works like a worker that received a job: claims up to its free slots, and again when one is free, until nothing is
 * due.
 */
async function runAll(): Promise<void> {
  const running = new Set<Promise<void>>();
  for (;;) {
    const limit = CONCURRENCY - running.size;
    const claimed = await runner.claim({
      priorities: ['ordinary'],
      limit,
      skip: [],
      outboundLimit: 0,
      skipOutbound: [],
    });
    for (const acquired of claimed) {
      const run = runner.run(acquired).finally(() => running.delete(run));
      running.add(run);
    }
    if (running.size === 0) return;
    await Promise.race(running);
  }
}

async function runConcurrently(count: number, each: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (let n = next++; n < count; n = next++) await each(n);
    }),
  );
}

/** Accepts operations as a request does and waits until the last of them has ended. */
async function runPath(count: number): Promise<void> {
  const ids: string[] = [];
  await runConcurrently(count, async () => ids.push(await accept()));
  // Polls for the last one by its key, and counts all only once it has ended, so that waiting costs next to nothing.
  for (const each of [ids.slice(-1), ids]) {
    while ((await countUnfinished(each)) > 0) await delay(10);
  }
}

async function countUnfinished(ids: readonly string[]): Promise<number> {
  const { rows } = await admin.query<{ left: number }>(
    `select count(*)::int as left from operations where id = any($1) and status <> 'succeeded'`,
    [ids],
  );
  return rows[0]!.left;
}

async function runSteadily(count: number): Promise<number[]> {
  const ids: string[] = [];
  const begin = performance.now();
  for (let n = 0; n < count; n += 1) {
    await delay(Math.max(0, begin + n * 50 - performance.now()));
    void accept().then((id) => ids.push(id));
  }
  await delay(2_000);
  const { rows } = await admin.query<{ ms: number }>(
    `select extract(epoch from s.started_at - o.created_at)::float8 * 1000 as ms from operations o join operation_steps s on s.operation_id = o.id and s.index = 0
     where o.id = any($1) and s.started_at is not null`,
    [ids],
  );
  if (rows.length < count) throw new Error(`${count - rows.length} operations have not started`);
  return rows.map((row) => row.ms);
}

/** Accepts an operation in one transaction, as a request does. */
function accept(): Promise<string> {
  const claim = { operation: BENCH, resourceType: 'thing', resourceName: `thing-${(accepted += 1)}`, requestedBy: WHO };
  return database.tx({ tenantId: TENANT }, async (tx) => {
    const { id } = await store.claim(tx, claim);
    const stream = `operation/${id}`;
    await store.start(tx, { id, operation: BENCH, resourceId: 'thing', stream, input: {}, steps: STEPS });
    return id;
  });
}

/** A job of the previous batch may still arrive, and then the worker claims some of these itself. */
async function waitUntilAllSucceeded(prefix: string, count: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const { rows } = await admin.query<{ n: number }>(
      `select count(*)::int as n from operations where id like $1 || '%' and status = 'succeeded'`,
      [prefix],
    );
    if (rows[0]!.n === count) return;
    await delay(10);
  }
  throw new Error(`not all of ${count} operations succeeded`);
}

/** The minimal durable worker: it claims a row, and then commits each step under the claim with one statement. */
async function runClaimLoop(pool: pg.Pool, concurrency: number, steps: number): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const client = await pool.connect();
      try {
        for (;;) {
          const {
            rows: [claimed],
          } = await client.query<{ id: string }>(CLAIM_ROW);
          if (!claimed) return;
          for (let step = 1; step <= steps; step += 1)
            await client.query({ ...COMMIT_STEP, values: [claimed.id, step, steps] });
        }
      } finally {
        client.release();
      }
    }),
  );
}

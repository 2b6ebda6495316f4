import type { ChildProcess } from 'node:child_process';
import type { Finding } from '../benchmarks.js';
import { cpuSecondsOf } from '../cpu-time.js';
import { asRatio, inMs, perSecond, quantile } from '../measure.js';
import type { Stand } from '../stand.js';

/** What the child answers. */
export interface Batch {
  done: number;
  ms: number;
  /** The child's own processor time. */
  cpuMs: number;
}

type Work = 'runner' | 'claim-loop' | 'path';

/** Operations of five trivial steps at concurrency 20: our runner against a claim loop over one table with the same commits. */
export async function operations(stand: Stand): Promise<Finding[]> {
  await prepare(stand);
  const { child } = await stand.limit('operations-worker', stand.postgres.appUrl, stand.adminUrl);
  const batches: Record<Work, { rates: number[]; own: number[]; postgres: number[] }> = {
    runner: { rates: [], own: [], postgres: [] },
    'claim-loop': { rates: [], own: [], postgres: [] },
    path: { rates: [], own: [], postgres: [] },
  };
  const count = stand.isQuick ? 100 : 250;
  for (let round = -1; round < stand.slices.rounds; round += 1) {
    for (const work of ['runner', 'claim-loop', 'path'] as const) {
      const prefix = `${work}${round + 1}-`;
      if (work !== 'path') await fill(stand, work, prefix, count);
      const before = cpuSecondsOf(stand.postgres.pid);
      const { done, ms, cpuMs } = await ask<Batch>(child, { work, prefix, count });
      if (round < 0) continue;
      batches[work].rates.push((done * 1_000) / ms);
      batches[work].own.push(cpuMs / done);
      batches[work].postgres.push(((cpuSecondsOf(stand.postgres.pid) - before) * 1_000) / done);
    }
  }
  const started = await ask<{ latencies: number[] }>(child, { work: 'steady', count: stand.isQuick ? 40 : 120 });
  const limit = quantile(batches['claim-loop'].rates, 0.5);
  const cpu = (work: Work): string =>
    `${quantile(batches[work].own, 0.5).toFixed(1)} + ${quantile(batches[work].postgres, 0.5).toFixed(1)}`;
  const row = (work: Work, what: string): Finding => {
    const ours = quantile(batches[work].rates, 0.5);
    return {
      name: `operations: ${what}`,
      ours: perSecond(ours),
      limit: perSecond(limit),
      ratio: asRatio(ours / limit),
      notes: `CPU ms per operation (ours, worker + Postgres): ${cpu(work)}; limit's: ${cpu('claim-loop')}; limit: claim loop over one table, one statement a step commit`,
    };
  };
  return [
    row('runner', 'runner, 5 steps'),
    row('path', 'accept → queue → runner, 5 steps'),
    {
      name: 'operations: accepted → first step',
      ours: `${inMs(quantile(started.latencies, 0.5))} / ${inMs(quantile(started.latencies, 0.99))}`,
      limit: '-',
      ratio: '-',
      notes: 'p50 / p99 at 20 operations/s, created_at → started_at',
    },
  ];
}

async function prepare(stand: Stand): Promise<void> {
  await stand.admin.query(
    `create table if not exists bench_operations (id text primary key, state text not null, step int not null default 0, worker text) with (fillfactor = 70)`,
  );
  await stand.admin.query(
    `create table if not exists bench_steps (operation_id text not null, step int not null, at timestamptz not null default now(), primary key (operation_id, step))`,
  );
  await stand.admin.query(`create index if not exists bench_waiting on bench_operations (id) where state = 'waiting'`);
}

/** Accepted operations that no queue was told of: the child drives them by itself. */
async function fill(stand: Stand, work: 'runner' | 'claim-loop', prefix: string, count: number): Promise<void> {
  if (work === 'claim-loop') {
    await stand.admin.query(
      `insert into bench_operations (id, state) select $1 || n, 'waiting' from generate_series(1, $2::int) n`,
      [prefix, count],
    );
    return;
  }
  const who = JSON.stringify({ type: 'system', id: 'bench' });
  // In one statement: a worker that is still rung for the batch before may take them at once.
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

function ask<T>(child: ChildProcess, order: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const lost = (): void => reject(new Error('the worker of the benchmark died'));
    child.once('exit', lost);
    child.once('message', (answer) => {
      child.off('exit', lost);
      const { error } = answer as { error?: string };
      if (error === undefined) resolve(answer as T);
      else reject(new Error(error));
    });
    child.send(order);
  });
}

import { setTimeout as delay } from 'node:timers/promises';
import { cpuSecondsOf } from '../cpu-time.js';
import { exactFigure } from '../figure.js';
import { compareFigures, type Finding } from '../finding.js';
import { quantile } from '../measure.js';
import { rssMbOf } from '../memory.js';
import type { Stand } from '../stand.js';

/** Limit for the additional memory of a worker while these operations sleep. */
const MORE_MEMORY_MB = 50;
const PROCESSOR_PERCENT = 3;
const LATE_MS = 1_000;
const HOUR_MS = 3_600_000;
const WAKES_PER_SECOND = 50;
const FIRST_WAKE_MS = 5_000;

/**
 * Measures operations that sleep in a soak: their cost for an idle worker, and how late operations wake that are due at
 * that time.
 */
export async function soaking(stand: Stand): Promise<Finding[]> {
  const asleep = stand.sized(10_000, 1_000, 20);
  const waking = stand.sized(2_000, 300, 10);
  const { pid } = await stand.limit('soaking-worker');
  const restMs = stand.sized(20_000, 5_000, 500);
  await delay(restMs / 4);
  const rssMb = rssMbOf(pid);
  await accept(stand, 'asleep', asleep, HOUR_MS, 0);
  await waitUntil(stand, 'asleep', 'wake_at is not null', asleep);
  await delay(restMs / 4);
  const before = cpuSecondsOf(pid);
  await delay(restMs);
  const percent = ((cpuSecondsOf(pid) - before) / (restMs / 1_000)) * 100;
  const moreMb = rssMbOf(pid) - rssMb;
  const firstMs = stand.sized(FIRST_WAKE_MS, FIRST_WAKE_MS, 500);
  await accept(stand, 'waking', waking, firstMs, 1_000 / WAKES_PER_SECOND);
  await waitUntil(stand, 'waking', `status = 'succeeded'`, waking);
  const late = await measureLateness(stand);
  const latest = quantile(late, 1);
  const tooLate = late.filter((ms) => ms > LATE_MS).length;
  const number = asleep.toLocaleString('en');
  const of = `of ${waking.toLocaleString('en')} that wake at the same time, ${WAKES_PER_SECOND} a second`;
  const name = `soaking: ${number} operations`;
  return [
    compareFigures(
      `${name}, memory`,
      exactFigure('MB', moreMb),
      exactFigure('MB', MORE_MEMORY_MB),
      'additional resident memory of the worker that put them to sleep; limit: the requirement',
    ),
    compareFigures(
      `${name}, processor`,
      exactFigure('%', percent),
      exactFigure('%', PROCESSOR_PERCENT),
      'of a core, with an idle worker; limit: the requirement',
    ),
    compareFigures(
      `${name}, the latest to wake`,
      exactFigure('ms', latest),
      exactFigure('ms', LATE_MS),
      `${of}; ${tooLate} late by more than a second; p50 ${quantile(late, 0.5).toFixed(0)} ms; limit: the requirement`,
    ),
  ];
}

/**
 * Inserts operations without notifying a queue: the worker polls each second for due ones. The n-th sleeps for `soakMs`
 * plus n times `stepMs`.
 */
async function accept(stand: Stand, prefix: string, count: number, soakMs: number, stepMs: number): Promise<void> {
  const who = JSON.stringify({ type: 'system', id: 'bench' });
  await stand.admin.query(
    `with made as (
       insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, current_step, requested_by, input)
       select $1 || n, 'ten_bench', 'bench', 'thing', 'thing', 'thing', 'operation/' || $1 || n, 'soak', $3, jsonb_build_object('soakMs', $4::float8 + n * $5::float8)
       from generate_series(1, $2::int) n
       returning id)
     insert into operation_steps (operation_id, tenant_id, name, index) select id, 'ten_bench', 'soak', 0 from made`,
    [prefix, count, who, soakMs, stepMs],
  );
}

async function waitUntil(stand: Stand, prefix: string, condition: string, count: number): Promise<void> {
  for (const deadline = Date.now() + 300_000; ; await delay(100)) {
    const { rows } = await stand.admin.query<{ n: number }>(
      `select count(*)::int as n from operations where id like $1 || '%' and ${condition}`,
      [prefix],
    );
    if (rows[0]!.n === count) return;
    if (Date.now() > deadline) throw new Error(`only ${rows[0]!.n} of ${count} operations: ${condition}`);
  }
}

/** Delay of each operation that had to wake, in milliseconds, by the clock of Postgres. */
async function measureLateness(stand: Stand): Promise<number[]> {
  const { rows } = await stand.admin.query<{ ms: number }>(
    `select extract(epoch from s.completed_at - s.started_at)::float8 * 1000 - (o.input->>'soakMs')::float8 as ms
     from operations o join operation_steps s on s.operation_id = o.id where o.id like 'waking%'`,
  );
  return rows.map(({ ms }) => ms);
}

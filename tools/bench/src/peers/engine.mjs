// Shared code of the programs of all engines: five steps, each committed to Postgres by its own statement, and the
// commands of the benchmark. Plain JavaScript, because it runs with packages that the workspace does not have.
// Arguments: address of the database, then those of the program.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

export const CONCURRENCY = 20;
export const [, , databaseUrl, ...rest] = process.argv;

const STEPS = 5;
const steps = new pg.Pool({ connectionString: databaseUrl, max: CONCURRENCY });
/** Accepted operations that have not ended, by key. */
const waiting = new Map();

/** The body of an operation for an engine that does not store steps itself. */
export async function fiveSteps(key) {
  begun(key);
  for (let step = 1; step <= STEPS; step += 1) await steps.query(STEP(key, step));
}

export function begun(key) {
  const one = waiting.get(key);
  if (one) one.begunAt ??= performance.now();
}

/** Called after the engine has recorded the end, if it reports that. */
export function ended(key) {
  waiting.get(key)?.end();
}

/** @param accept passes an operation to the engine; resolves once that is durable */
export function serve(accept) {
  process.on('message', (order) => {
    perform(order, accept).then(
      (answer) => process.send(answer),
      (error) => process.send({ error: error.stack }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.on('SIGTERM', () => process.exit(0));
  process.send(0);
}

async function perform({ work, prefix = 'steady-', count }, accept) {
  if (work === 'steady') return { latencies: await steady(prefix, count, accept) };
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const ends = [];
  let next = 0;
  const loop = async () => {
    for (let n = next++; n < count; n = next++) {
      ends.push(expected(`${prefix}${n}`).ended);
      await accept(`${prefix}${n}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  await Promise.all(ends);
  const { user, system } = process.cpuUsage(cpu);
  return { done: count, ms: performance.now() - begin, cpuMs: (user + system) / 1_000 };
}

async function steady(prefix, count, accept) {
  const all = [];
  const begin = performance.now();
  for (let n = 0; n < count; n += 1) {
    await delay(Math.max(0, begin + n * 50 - performance.now()));
    all.push(expected(`${prefix}${n}`));
    // Not awaited, because the next one is due at its own time.
    void accept(`${prefix}${n}`);
  }
  await Promise.all(all.map(({ ended }) => ended));
  return all.map(({ askedAt, begunAt }) => begunAt - askedAt);
}

function expected(key) {
  const one = { askedAt: performance.now() };
  one.ended = new Promise((resolve) => (one.end = resolve)).then(() => waiting.delete(key));
  waiting.set(key, one);
  return one;
}

const STEP = (key, step) => ({
  name: 'bench-step',
  text: 'insert into bench_steps (operation_id, step) values ($1, $2) on conflict do nothing',
  values: [key, step],
});

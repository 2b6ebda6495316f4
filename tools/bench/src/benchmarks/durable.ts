import type { ChildProcess } from 'node:child_process';
import { cpuSecondsOf } from '../cpu-time.js';
import { figureOfEvents } from '../figure.js';
import { compareFigures, compareRounds, type Finding } from '../finding.js';
import { quantile } from '../measure.js';
import type { Stand } from '../stand.js';

/**
 * A process that runs operations of five trivial steps on request, and the servers that it causes to use processor
 * time.
 */
export interface DurableEngine {
  child: ChildProcess;
  servers: number[];
}

/** The answer of the process. */
interface BatchAnswer {
  done: number;
  ms: number;
  /** Processor time of the process itself. */
  cpuMs: number;
}

/** One value for each batch: operations per second, and milliseconds of processor time per operation. */
export interface BatchFigures {
  rates: number[];
  ownMs: number[];
  serversMs: number[];
}

export const emptyFigures = (): BatchFigures => ({ rates: [], ownMs: [], serversMs: [] });

export async function runBatch({ child, servers }: DurableEngine, order: object, into: BatchFigures): Promise<void> {
  const seconds = (): number => servers.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  const before = seconds();
  const { done, ms, cpuMs } = await sendOrder<BatchAnswer>(child, order);
  into.rates.push((done * 1_000) / ms);
  into.ownMs.push(cpuMs / done);
  into.serversMs.push(((seconds() - before) * 1_000) / done);
}

/** Removes the first batch, which includes connections, plans and compilation. */
export function forgetFirst(batches: BatchFigures): void {
  for (const values of Object.values(batches)) values.shift();
}

/** Formats as `2.5 + 5.6`: milliseconds of the process and of its servers. */
export function cpuOf({ ownMs, serversMs }: BatchFigures): string {
  return `${quantile(ownMs, 0.5).toFixed(1)} + ${quantile(serversMs, 0.5).toFixed(1)}`;
}

/** Time from acceptance until the first step begins, in milliseconds, at 20 operations a second. */
export async function measureStartTimes(stand: Stand, { child }: DurableEngine): Promise<number[]> {
  return (await sendOrder<{ latencies: number[] }>(child, { work: 'steady', count: stand.sized(120, 40, 3) }))
    .latencies;
}

/** Compares operations from acceptance to their end: our engine and another one take turns, on the same Postgres. */
export async function compareEngines(
  stand: Stand,
  name: string,
  engines: { ours: DurableEngine; limit: DurableEngine },
  notes: string,
): Promise<Finding[]> {
  const batches = { ours: emptyFigures(), limit: emptyFigures() };
  const count = stand.sized(1_000, 100, 5);
  for (let round = 0; round <= stand.slices.rounds; round += 1) {
    for (const side of ['ours', 'limit'] as const)
      await runBatch(engines[side], { work: 'path', prefix: `${name}-${round}-`, count }, batches[side]);
  }
  Object.values(batches).forEach(forgetFirst);
  const rates = { ours: batches.ours.rates, limit: batches.limit.rates };
  const cpu = `CPU ms per operation (process + servers): ${cpuOf(batches.ours)}; limit: ${cpuOf(batches.limit)}`;
  const starts = [await measureStartTimes(stand, engines.ours), await measureStartTimes(stand, engines.limit)] as const;
  return [
    compareRounds(`${name}: 5 steps`, '/s', rates, `${notes}; ${cpu}`),
    compareFigures(
      `${name}: accepted → first step`,
      figureOfEvents('ms', starts[0]),
      figureOfEvents('ms', starts[1]),
      'at 20 operations/s; ratio of times: lower is better',
    ),
  ];
}

/**
 * Sends a command to one of our own processes and waits for its answer.
 * @throws Error with the `{error}` of an answer
 */
function sendOrder<T>(child: ChildProcess, order: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const lost = (): void => reject(new Error('the benchmark process died'));
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

import type { ChildProcess } from 'node:child_process';
import { cpuSecondsOf } from '../cpu-time.js';
import { figureOfEvents } from '../figure.js';
import { compareFigures, compareRounds, type Finding } from '../finding.js';
import { quantile } from '../measure.js';
import type { Stand } from '../stand.js';

/** A process that takes orders to run operations of five trivial steps, and the servers whose processor time they cost too. */
export interface DurableEngine {
  child: ChildProcess;
  servers: number[];
}

/** What the process answers. */
interface BatchAnswer {
  done: number;
  ms: number;
  /** Its own processor time. */
  cpuMs: number;
}

/** One value a batch: operations per second, and milliseconds of processor time per operation. */
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

/** The first batch pays for connections, plans and compilation. */
export function forgetFirst(batches: BatchFigures): void {
  for (const values of Object.values(batches)) values.shift();
}

/** `2.5 + 5.6`: milliseconds of the process and of its servers. */
export function cpuOf({ ownMs, serversMs }: BatchFigures): string {
  return `${quantile(ownMs, 0.5).toFixed(1)} + ${quantile(serversMs, 0.5).toFixed(1)}`;
}

/** From acceptance until the first step begins, at 20 operations a second, in milliseconds. */
export async function measureStartTimes(stand: Stand, { child }: DurableEngine): Promise<number[]> {
  return (await sendOrder<{ latencies: number[] }>(child, { work: 'steady', count: stand.sized(120, 40, 3) }))
    .latencies;
}

/** The whole way of an operation, from acceptance to its end: ours and another engine in turns, on the same Postgres. */
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

/** Sends an order to one of our own processes and waits for its answer, `{error}` of which is thrown. */
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

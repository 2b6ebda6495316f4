import type { ChildProcess } from 'node:child_process';
import { ask } from '../ask.js';
import { cpuSecondsOf } from '../cpu-time.js';
import { ofEvents } from '../figure.js';
import { against, beside, type Finding } from '../finding.js';
import { quantile } from '../measure.js';
import type { Stand } from '../stand.js';

/** A process that takes orders to run operations of five trivial steps, and the servers whose processor time they cost too. */
export interface Durable {
  child: ChildProcess;
  servers: number[];
}

/** What the process answers. */
interface Batch {
  done: number;
  ms: number;
  /** Its own processor time. */
  cpuMs: number;
}

/** One value a batch: operations per second, and milliseconds of processor time per operation. */
export interface Batches {
  rates: number[];
  ownMs: number[];
  serversMs: number[];
}

export const noBatches = (): Batches => ({ rates: [], ownMs: [], serversMs: [] });

export async function runBatch({ child, servers }: Durable, order: object, into: Batches): Promise<void> {
  const seconds = (): number => servers.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  const before = seconds();
  const { done, ms, cpuMs } = await ask<Batch>(child, order);
  into.rates.push((done * 1_000) / ms);
  into.ownMs.push(cpuMs / done);
  into.serversMs.push(((seconds() - before) * 1_000) / done);
}

/** The first batch pays for connections, plans and compilation. */
export function forgetFirst(batches: Batches): void {
  for (const values of Object.values(batches)) values.shift();
}

/** `2.5 + 5.6`: milliseconds of the process and of its servers. */
export function cpuOf({ ownMs, serversMs }: Batches): string {
  return `${quantile(ownMs, 0.5).toFixed(1)} + ${quantile(serversMs, 0.5).toFixed(1)}`;
}

/** From acceptance until the first step begins, at 20 operations a second, in milliseconds. */
export async function startTimes(stand: Stand, { child }: Durable): Promise<number[]> {
  return (await ask<{ latencies: number[] }>(child, { work: 'steady', count: stand.sized(120, 40, 3) })).latencies;
}

/** The whole way of an operation, from acceptance to its end: ours and another engine in turns, on the same Postgres. */
export async function besideEngine(
  stand: Stand,
  name: string,
  engines: { ours: Durable; limit: Durable },
  notes: string,
): Promise<Finding[]> {
  const batches = { ours: noBatches(), limit: noBatches() };
  const count = stand.sized(1_000, 100, 5);
  for (let round = 0; round <= stand.slices.rounds; round += 1) {
    for (const side of ['ours', 'limit'] as const)
      await runBatch(engines[side], { work: 'path', prefix: `${name}-${round}-`, count }, batches[side]);
  }
  Object.values(batches).forEach(forgetFirst);
  const rates = { ours: batches.ours.rates, limit: batches.limit.rates };
  const cpu = `CPU ms per operation (process + servers): ${cpuOf(batches.ours)}; its: ${cpuOf(batches.limit)}`;
  const starts = [await startTimes(stand, engines.ours), await startTimes(stand, engines.limit)] as const;
  return [
    beside(`${name}: 5 steps`, '/s', rates, `${notes}; ${cpu}`),
    against(
      `${name}: accepted → first step`,
      ofEvents('ms', starts[0]),
      ofEvents('ms', starts[1]),
      'at 20 operations/s; a ratio of times: lower is better',
    ),
  ];
}

import { setTimeout as delay } from 'node:timers/promises';
import { exactFigure, figureOfSlices } from '../figure.js';
import { compareFigures, type Finding } from '../finding.js';
import { rssMbOf } from '../memory.js';
import type { App, Stand } from '../stand.js';

/** Limits for the resident memory of each process of the product, in MB, in the order in which they start. */
const MOST_MB: Record<App, number> = { api: 170, worker: 160, gateway: 90 };
const MOST_READY_MS = 4_000;

/**
 * Measures each process of the product alone and without work: the time until it is ready, and its memory once it is
 * idle.
 */
export async function idle(stand: Stand): Promise<Finding[]> {
  const seen: Record<string, { readyMs: number[]; rssMb: number[] }> = {};
  for (let round = 0; round < stand.sized(5, 3, 1); round += 1) {
    const pids: number[] = [];
    for (const app of Object.keys(MOST_MB) as App[]) {
      const of = (seen[app] ??= { readyMs: [], rssMb: [] });
      const begin = performance.now();
      const { pid } = await stand.process(app);
      of.readyMs.push(performance.now() - begin);
      await delay(stand.sized(6_000, 3_000, 100));
      of.rssMb.push(rssMbOf(pid));
      pids.push(pid);
    }
    for (const pid of pids) await stand.end(pid);
  }
  return (Object.keys(MOST_MB) as App[]).flatMap((app) => [
    compareFigures(
      `idle: memory of the ${app}`,
      figureOfSlices('MB', seen[app]!.rssMb),
      exactFigure('MB', MOST_MB[app]),
      'resident, a few seconds after it is ready; limit: the requirement',
    ),
    compareFigures(
      `idle: start of the ${app}`,
      figureOfSlices('ms', seen[app]!.readyMs),
      exactFigure('ms', MOST_READY_MS),
      'from the start of the process until it is ready; limit: the requirement',
    ),
  ]);
}

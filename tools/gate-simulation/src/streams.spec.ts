import { describe, expect, it } from '@jest/globals';
import { judge, type GateVerdict } from '@slipway/area-rollouts/analysis';
import type { RequestStats } from '@slipway/dataplane';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';
import { streamsOf, type StreamEngine } from './streams.js';

const RUNS = 20;
const ONE_BY_ONE: StreamEngine = { tokenMs: 20, tokensInEvent: [1, 1] };
const IN_EIGHTS: StreamEngine = { tokenMs: 20, tokensInEvent: [8, 8] };
const MIXED: StreamEngine = { tokenMs: 20, tokensInEvent: [1, 16] };
const slower = (engine: StreamEngine): StreamEngine => ({ ...engine, tokenMs: 2 * engine.tokenMs });

/** The same streams are compared in several tests, and to simulate them takes nearly all of the time. */
const simulated = new Map<string, Promise<RequestStats>>();
function statsOf(engine: StreamEngine, seed: number): Promise<RequestStats> {
  const key = JSON.stringify([engine, seed]);
  const stats = simulated.get(key) ?? streamsOf(engine, seed);
  simulated.set(key, stats);
  return stats;
}

/** Counts the verdicts of a gate that allows 10 %, over several seeds. */
async function verdicts(stat: 'p50' | 'p95', stable: StreamEngine, candidate: StreamEngine) {
  const counts: Partial<Record<GateVerdict, number>> = {};
  const metric = {
    name: 'itl_ms',
    stat,
    check: 'regression',
    max_regression_percent: 10,
    min_samples: 50,
    failure_limit: 0,
    dry_run: false,
  } as AnalysisMetricDto;
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const [ours, theirs] = [await statsOf(candidate, seed), await statsOf(stable, 1_000 + seed)];
    const { verdict } = judge(metric, ours, theirs, { looks: 1, metrics: 1 });
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  return counts;
}

describe.each(['p50', 'p95'] as const)('a gate of 10 %% on %s of the time per output token', (stat) => {
  it.each([
    ['one token and eight tokens', ONE_BY_ONE, IN_EIGHTS],
    ['eight tokens and one token', IN_EIGHTS, ONE_BY_ONE],
    ['one token and 1 to 16 tokens', ONE_BY_ONE, MIXED],
    ['1 to 16 tokens and eight tokens', MIXED, IN_EIGHTS],
  ])(
    'passes an engine of equal speed, and stops one of half the speed, with %s in an event',
    async (_, stable, one) => {
      expect(await verdicts(stat, stable, one)).toEqual({ pass: RUNS });
      expect(await verdicts(stat, stable, slower(one))).toEqual({ breached: RUNS });
    },
  );
});

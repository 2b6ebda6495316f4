import type { RequestStats, StatsReporter } from '@slipway/dataplane';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';
import type { StoredGate, Strategy } from '../rollout.input.js';
import { judge, measured, overall, type Chances, type GateVerdict, type MetricResult } from './analysis.js';
import { judgedRequests, judgeGuard, type GuardQuestion, type GuardResult } from './guards.js';
import { isWatched, looksOf, type EarlyChecks } from './watch.js';

/*
 * Judges a soak by all checks and guards of a gate, at its end or before. It reads the records through an interface, so
 * that the simulation of the gate judges as a rollout does.
 */

export interface Judgement {
  verdict: GateVerdict;
  metrics: MetricResult[];
  /** Absent in judgements of earlier versions. */
  guards?: GuardResult[];
  window: { from: string; to: string };
  /** The gateways whose records of the soak are not complete, if any. */
  gateways?: Partial<Record<Exclude<StatsReporter['state'], 'complete'>, string[]>>;
}

export interface CheckWindow {
  from: Date;
  to: Date;
}

/** The requests of both revisions. */
export interface GateRecords {
  candidate(window: CheckWindow): Promise<RequestStats>;
  /**
   * The stable revision in the same window. After that in the last window of that length with enough requests, and then
   * in the last one before this rollout, when it had all the traffic.
   */
  stable(window: CheckWindow, minSamples: number): AsyncIterable<NonNullable<GuardQuestion['stable']>>;
  isStableReady(): Promise<boolean>;
}

export interface JudgedGate {
  gate: StoredGate;
  strategy: Pick<Strategy, 'type' | 'steps'>;
  /** Passes a breach that a check tolerates. */
  forgive?: (result: MetricResult, metric: AnalysisMetricDto) => MetricResult;
}

/** A fault that began late in a long soak is a small difference of the whole soak, and a large one of this time. */
const RECENT_MS = 60_000;

/** Judges a soak that is not over. Returns undefined unless a check that may stop it now is a breach. */
export async function judgeEarly(
  records: GateRecords,
  judged: JudgedGate,
  soak: CheckWindow,
  early: EarlyChecks,
): Promise<Judgement | undefined> {
  const recent = { from: new Date(Math.max(soak.from.getTime(), soak.to.getTime() - RECENT_MS)), to: soak.to };
  for (const window of soak.from < recent.from ? [soak, recent] : [soak]) {
    const judgement = await judgeSoak(records, judged, window, early);
    if (judgement.verdict === 'breached') return judgement;
  }
  return undefined;
}

/** @param early the checks that may stop a soak now; absent at the end of a soak */
export async function judgeSoak(
  records: GateRecords,
  judged: JudgedGate,
  soak: CheckWindow,
  early?: EarlyChecks,
): Promise<Judgement> {
  const { gate, strategy, forgive = (result) => result } = judged;
  const chances = chancesOf(strategy, gate);
  const seconds = (soak.to.getTime() - soak.from.getTime()) / 1_000;
  const metrics: MetricResult[] = [];
  for (const [index, metric] of gate.metrics.entries()) {
    const window = { from: new Date(soak.to.getTime() - (metric.window_seconds ?? seconds) * 1_000), to: soak.to };
    const isProven = early?.proven.has(`metrics.${index}`) ?? false;
    const check = isProven ? { ...metric, min_samples: 1 } : metric;
    const result = forgive(await judgeMetric(records, check, window, { chances, isEarly: !!early, isProven }), metric);
    const isOpen = early && !isProven && (!early.isPlanned || isWatched(metric.name));
    metrics.push(isOpen ? undecided(result) : result);
  }
  const guards = await judgeGuards(records, judged, soak, early);
  const window = { from: soak.from.toISOString(), to: soak.to.toISOString() };
  return { verdict: overall([...metrics, ...guards]), metrics, guards, window };
}

/** The stable revision at the same time or, if it had too few requests then, the last time that it had enough. */
export async function guardBaseline(
  records: GateRecords,
  window: CheckWindow,
  minSamples: number,
): Promise<GuardQuestion['stable']> {
  for await (const found of records.stable(window, minSamples))
    if (judgedRequests(found.stats) >= minSamples) return found;
  return undefined;
}

/** Guards read as much time as the longest check. */
async function judgeGuards(
  records: GateRecords,
  { gate, strategy }: JudgedGate,
  soak: CheckWindow,
  early?: EarlyChecks,
): Promise<GuardResult[]> {
  const { metrics, guards = [] } = gate;
  if (guards.length === 0) return [];
  const seconds = Math.max(...metrics.map(({ window_seconds = 0 }) => window_seconds), 0);
  const from = new Date(Math.min(soak.from.getTime(), soak.to.getTime() - seconds * 1_000));
  const window = { from, to: soak.to };
  const minSamples = Math.max(...guards.map(({ min_samples }) => min_samples));
  const question: GuardQuestion = {
    candidate: await records.candidate(window),
    stable: await guardBaseline(records, window, minSamples),
    isStableReady: await records.isStableReady(),
    // A recreate has stopped the previous revision, so a pause without requests would protect nothing.
    isPausedWithoutRequests: metrics.length === 0 && strategy.type !== 'recreate',
    chances: chancesOf(strategy, gate),
  };
  return guards.map((guard, index) => {
    if (!early) return judgeGuard(guard, question);
    const isProven = early.proven.has(`guards.${index}`);
    const result = judgeGuard(isProven ? { ...guard, min_samples: 0 } : guard, { ...question, isEarly: true });
    return isProven || (early.isPlanned && !isWatched(guard.name)) ? result : undecided(result);
  });
}

/** Compares with the first window of the stable revision that has enough requests and a comparable load. */
async function judgeMetric(
  records: GateRecords,
  metric: AnalysisMetricDto,
  window: CheckWindow,
  { chances, isEarly, isProven }: { chances: Chances; isEarly: boolean; isProven: boolean },
): Promise<MetricResult> {
  const candidate = await records.candidate(window);
  if (metric.check === 'threshold')
    return judge(metric, candidate, undefined, chances, { isEarly: isEarly && !isProven });
  let result: MetricResult | undefined;
  for await (const { stats } of records.stable(window, metric.min_samples)) {
    const isEnough = measured(metric, stats).samples >= metric.min_samples;
    if (!isEnough && result) continue;
    const found = judge(metric, candidate, isEnough ? stats : undefined, chances, { isEarly });
    if (isEnough && found.verdict !== 'not_comparable') return found;
    if (!result || result.verdict === 'unavailable') result = found;
  }
  return result ?? judge(metric, candidate, undefined, chances);
}

/** A check that compares nothing is no chance to look worse, and neither is a dry run. */
function chancesOf(strategy: JudgedGate['strategy'], { metrics, guards = [] }: StoredGate): Chances {
  const compared = metrics.filter(({ check, dry_run }) => check === 'regression' && !dry_run);
  return { looks: looksOf(strategy), metrics: compared.length + guards.length };
}

/** A check that may not stop the soak now. */
function undecided<R extends { verdict: GateVerdict }>(result: R): R {
  return result.verdict === 'breached' ? { ...result, verdict: 'inconclusive' } : result;
}

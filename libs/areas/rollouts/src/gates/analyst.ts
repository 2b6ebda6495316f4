import { Injectable } from '@nestjs/common';
import { lastWindowWith, statsBetween, statsCompleteUntil, type RequestStats } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { done, sleep, StepFailed, type StepOutcome } from '@slipway/platform-durable/operations';
import { WORKER, type FailureCode } from '@slipway/contracts';
import type { NewEvent } from '@slipway/platform-durable/events';
import { isBreach, judge, measured, overall, type Chances, type MetricResult, type GateVerdict } from './analysis.js';
import { Candidate } from '../steps/candidate.js';
import { rolloutFailures } from '../rollout.errors.js';
import type { AnalysisDto, AnalysisMetricDto } from '@slipway/ports/deployment-records';
import { soakSecondsAt, type RolloutContext, type RolloutInput } from '../rollout.input.js';

/**
 * Time to wait until the gateways have reported the last second of the soak. Records that arrive later count as absent.
 */
const STATS_LIMIT_MS = 10_000;
const STATS_LOOK_MS = 200;

interface Judgement {
  verdict: GateVerdict;
  metrics: MetricResult[];
  window: { from: string; to: string };
}

/**
 * Judges a candidate by the requests that the gateways recorded during the soak.
 * First it waits until the records are complete. Then it judges once and stores the judgement. Then it acts on it. So
 * the verdict, its event and its consequence always agree, even after a crash in between.
 */
@Injectable()
export class Analyst {
  constructor(
    private readonly database: Database,
    private readonly candidate: Candidate,
  ) {}

  async analyze(context: RolloutContext): Promise<StepOutcome> {
    const { input, state, step } = context;
    if (!input.analysis) return done({ skipped: true, message: 'The rollout has no analysis.' });
    if (state?.['judgement']) return this.act(context, input.analysis, state['judgement'] as Judgement);
    // If the candidate died a moment ago, the reconciler must notice it before the records are judged.
    const isOver = step.elapsedMs() > STATS_LIMIT_MS;
    if (!isOver && !(await this.candidate.answers(input.revisionId)))
      return sleep({
        forMs: STATS_LOOK_MS,
        status: 'running',
        message: 'The candidate does not respond to its probe.',
      });
    const judgement = await this.database.tx('system', async (tx) => {
      await this.candidate.assertUp(tx, context, input.revisionId, input.revisionName);
      const until = await statsCompleteUntil(tx);
      if (!isOver && (!until || until.getTime() < floorSecond(step.startedAt).getTime())) return undefined;
      return this.judgeAll(tx, context, input.analysis as AnalysisDto);
    });
    if (!judgement)
      return sleep({
        forMs: STATS_LOOK_MS,
        status: 'running',
        message: 'Waiting for the gateways to report the metrics of the soak.',
      });
    return sleep({
      forMs: 0,
      status: 'running',
      message: judgement.verdict,
      state: { judgement },
      commit: async () => ({
        events: [this.event('rollout.analysis_completed', context, { step: step.name, ...judgement })],
      }),
    });
  }

  private act(context: RolloutContext, analysis: AnalysisDto, judgement: Judgement): StepOutcome {
    const { step, resumed } = context;
    const { verdict } = judgement;
    const operationResult = {
      analysis: { ...(context.operation.result['analysis'] as object | undefined), [step.name]: judgement },
    };
    if (verdict === 'pass' || resumed) {
      return done({
        message: resumed ? `${verdict}; resumed by a user` : verdict,
        evidence: judgement,
        result: judgement,
        operationResult,
      });
    }
    const action = verdict === 'breached' ? analysis.on_failure : analysis.on_inconclusive;
    const message = describe(judgement);
    if (action === 'rollback')
      throw new StepFailed(FAILURES[verdict], message, { evidence: judgement, result: operationResult });
    return sleep({
      status: 'waiting',
      awaiting: 'pause',
      message,
      state: { judgement },
      commit: async () => ({ events: [this.event('rollout.paused', context, { step: step.name, reason: verdict })] }),
    });
  }

  private async judgeAll(tx: Tx, context: RolloutContext, analysis: AnalysisDto): Promise<Judgement> {
    const to = floorSecond(context.step.startedAt);
    const soakSeconds = Math.max(1, soakSecondsAt(context.input.strategy, context.step.number));
    const chances = chancesOf(context.input.strategy, analysis);
    const metrics: MetricResult[] = [];
    for (const metric of analysis.metrics) {
      const from = new Date(to.getTime() - (metric.window_seconds ?? soakSeconds) * 1_000);
      const candidate = await statsBetween(tx, context.input.revisionId, from, to);
      metrics.push(forgiven(await this.judge(tx, context, { metric, chances, from, to, candidate }), metric, context));
    }
    const from = new Date(to.getTime() - soakSeconds * 1_000);
    return { verdict: overall(metrics), metrics, window: { from: from.toISOString(), to: to.toISOString() } };
  }

  /**
   * Compares with the stable revision in the same window.
   * If that window has too few requests or another load, it uses the last window of that length with enough requests.
   * After that it uses the last one before this rollout, when the stable revision had all the traffic.
   */
  private async judge(tx: Tx, context: RolloutContext, check: MetricCheck): Promise<MetricResult> {
    const { metric, candidate, chances } = check;
    if (metric.check === 'threshold') return judge(metric, candidate, undefined);
    let result: MetricResult | undefined;
    for (const find of [sameWindow, lastWindow, windowBefore]) {
      const window = await find(tx, context, check);
      if (!window) continue;
      const baseline = await statsBetween(tx, context.input.foundActiveRevisionId as string, window.from, window.to);
      const isEnough = measured(metric, baseline).samples >= metric.min_samples;
      if (!isEnough && result) continue;
      const found = judge(metric, candidate, isEnough ? baseline : undefined, chances);
      if (isEnough && found.verdict !== 'not_comparable') return found;
      if (!result || result.verdict === 'unavailable') result = found;
    }
    return result ?? judge(metric, candidate, undefined, chances);
  }

  private event(type: string, { operation, input }: RolloutContext, data: Record<string, unknown>): NewEvent {
    return {
      type,
      subject: `deployments/${input.deploymentName}`,
      actor: WORKER,
      operationId: operation.id,
      revisionId: input.revisionId,
      data: { operation_id: operation.id, revision: input.revisionName, ...data },
    };
  }
}

interface MetricCheck {
  metric: AnalysisMetricDto;
  chances: Chances;
  from: Date;
  to: Date;
  candidate: RequestStats;
}

interface CheckWindow {
  from: Date;
  to: Date;
}

/**
 * The window of the stable revision. If the stable revision was stopped for the candidate, the window ends before its
 * requests were held, because its last moments are no fair measure.
 */
async function sameWindow(
  _tx: Tx,
  { input, results }: RolloutContext,
  { from, to }: MetricCheck,
): Promise<CheckWindow | null> {
  if (!input.foundActiveRevisionId) return null;
  const heldSince = (results['hold_requests'] as { since?: string } | undefined)?.since;
  if (!heldSince) return { from, to };
  const end = floorSecond(new Date(heldSince));
  return { from: new Date(end.getTime() - (to.getTime() - from.getTime())), to: end };
}

async function lastWindow(tx: Tx, context: RolloutContext, check: MetricCheck): Promise<CheckWindow | null> {
  const same = await sameWindow(tx, context, check);
  return same && lastWindowUntil(tx, context, check, same.to);
}

async function windowBefore(tx: Tx, context: RolloutContext, check: MetricCheck): Promise<CheckWindow | null> {
  const { createdAt } = context.operation;
  return context.input.foundActiveRevisionId ? lastWindowUntil(tx, context, check, floorSecond(createdAt)) : null;
}

function lastWindowUntil(
  tx: Tx,
  { input }: RolloutContext,
  { metric, from, to }: MetricCheck,
  before: Date,
): Promise<CheckWindow | null> {
  return lastWindowWith(tx, input.foundActiveRevisionId as string, {
    before,
    seconds: (to.getTime() - from.getTime()) / 1_000,
    minAttempts: metric.min_samples,
  });
}

/** A check that compares nothing is no chance to look worse, and neither is a dry run. */
function chancesOf({ type, steps }: RolloutInput['strategy'], { metrics }: AnalysisDto): Chances {
  return {
    looks: type === 'canary' ? steps.length : 1,
    metrics: metrics.filter(({ check, dry_run }) => check === 'regression' && !dry_run).length,
  };
}

const FAILURES: Record<Exclude<GateVerdict, 'pass'>, FailureCode> = {
  breached: rolloutFailures.analysis_failed,
  inconclusive: rolloutFailures.analysis_inconclusive,
  unavailable: rolloutFailures.metrics_unavailable,
  not_comparable: rolloutFailures.analysis_not_comparable,
};
/** Passes a breach within failure_limit. The breaches of earlier steps of this rollout count. */
function forgiven(result: MetricResult, metric: AnalysisMetricDto, context: RolloutContext): MetricResult {
  if (result.verdict !== 'breached' || metric.failure_limit === 0) return result;
  const earlier = Object.values(context.results).flatMap((one) => (one as Partial<Judgement>)?.metrics ?? []);
  const breaches = earlier.filter(
    (one) => one.metric === result.metric && one.stat === result.stat && one.check === result.check && isBreach(one),
  ).length;
  return breaches < metric.failure_limit ? { ...result, verdict: 'pass' } : result;
}

function describe({ verdict, metrics }: Judgement): string {
  const culprits = metrics.filter((metric) => metric.verdict === verdict && !metric.dry_run);
  return `${verdict}: ${culprits.map((one) => `${one.metric} ${one.stat} ${one.candidate.value ?? 'has no value'} (${one.candidate.samples} samples, limit ${one.limit})`).join('; ')}`;
}

function floorSecond(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000);
}

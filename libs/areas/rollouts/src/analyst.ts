import { Injectable } from '@nestjs/common';
import { lastWindowWith, statsBetween, statsCompleteUntil, type RequestStats } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { done, sleep, StepFailed, type StepContext, type StepOutcome } from '@slipway/platform-operations';
import { WORKER, type FailureCode } from '@slipway/contracts';
import type { NewEvent } from '@slipway/platform-events';
import { isBreach, judge, measured, type MetricResult, type Verdict } from './analysis.js';
import { Candidate } from './candidate.js';
import { rolloutFailures } from './rollout.failures.js';
import type { AnalysisDto, AnalysisMetricDto } from './rollout.dto.js';
import type { RolloutInput } from './rollout.input.js';
import { soakSecondsAt } from './rollout.plan.js';

type Context = StepContext<RolloutInput>;

/** How long it waits for the gateways to hand in the soak's last second; later ones are counted as absent. */
const STATS_LIMIT_MS = 10_000;
const STATS_LOOK_MS = 200;

interface Judgement {
  verdict: Verdict;
  metrics: MetricResult[];
  window: { from: string; to: string };
}

/**
 * Judges a candidate by what the gateways recorded of it during the soak. First it waits until the records are complete,
 * then it judges once and keeps the judgement, then it acts on it: so the verdict, its event and what follows from it
 * are one story, whatever crashes in between.
 */
@Injectable()
export class Analyst {
  constructor(
    private readonly database: Database,
    private readonly candidate: Candidate,
  ) {}

  async analyze(context: Context): Promise<StepOutcome> {
    const { input, state, step } = context;
    if (!input.analysis) return done({ skipped: true, message: 'no metrics were asked for' });
    if (state?.['judgement']) return this.act(context, input.analysis, state['judgement'] as Judgement);
    // A candidate that died a moment ago is for the reconciler to tell: it must have looked before the records are judged.
    const isOver = step.elapsedMs() > STATS_LIMIT_MS;
    if (!isOver && !(await this.candidate.answers(input.revisionId)))
      return sleep({ forMs: STATS_LOOK_MS, status: 'running', message: 'the candidate does not answer its probe' });
    const judgement = await this.database.tx('system', async (tx) => {
      await this.candidate.standing(tx, context, input.revisionId, input.revisionName);
      const until = await statsCompleteUntil(tx);
      if (!isOver && (!until || until.getTime() < floorSecond(step.startedAt).getTime())) return undefined;
      return this.judgeAll(tx, context, input.analysis as AnalysisDto);
    });
    if (!judgement)
      return sleep({ forMs: STATS_LOOK_MS, status: 'running', message: "waits for the gateways' records of the soak" });
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

  private act(context: Context, analysis: AnalysisDto, judgement: Judgement): StepOutcome {
    const { step, resumed } = context;
    const { verdict } = judgement;
    const operationResult = { analysis: { ...context.operation.result['analysis'], [step.name]: judgement } };
    if (verdict === 'pass' || resumed) {
      return done({
        message: resumed ? `${verdict}; a person let it go on` : verdict,
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

  private async judgeAll(tx: Tx, context: Context, analysis: AnalysisDto): Promise<Judgement> {
    const to = floorSecond(context.step.startedAt);
    const soakSeconds = Math.max(1, soakSecondsAt(context.input.strategy, context.step.number));
    const metrics: MetricResult[] = [];
    for (const metric of analysis.metrics) {
      const from = new Date(to.getTime() - (metric.window_seconds ?? soakSeconds) * 1_000);
      const candidate = await statsBetween(tx, context.input.revisionId, from, to);
      const baseline =
        metric.check === 'regression' ? await this.baseline(tx, context.input, metric, from, to) : undefined;
      metrics.push(forgiven(judge(metric, candidate, baseline), metric, context));
    }
    const from = new Date(to.getTime() - soakSeconds * 1_000);
    return { verdict: overall(metrics), metrics, window: { from: from.toISOString(), to: to.toISOString() } };
  }

  /** The stable revision in the same window; if too little went there, its last window of that length with enough. */
  private async baseline(
    tx: Tx,
    input: RolloutInput,
    metric: AnalysisMetricDto,
    from: Date,
    to: Date,
  ): Promise<RequestStats | undefined> {
    if (!input.foundActiveRevisionId) return undefined;
    const same = await statsBetween(tx, input.foundActiveRevisionId, from, to);
    if (measured(metric, same).samples >= metric.min_samples) return same;
    const seconds = (to.getTime() - from.getTime()) / 1_000;
    const earlier = await lastWindowWith(tx, input.foundActiveRevisionId, {
      before: to,
      seconds,
      minAttempts: metric.min_samples,
    });
    return earlier ? statsBetween(tx, input.foundActiveRevisionId, earlier.from, earlier.to) : undefined;
  }

  private event(type: string, { operation, input }: Context, data: Record<string, unknown>): NewEvent {
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

const FAILURES: Record<Exclude<Verdict, 'pass'>, FailureCode> = {
  breached: rolloutFailures.analysis_failed,
  inconclusive: rolloutFailures.analysis_inconclusive,
  unavailable: rolloutFailures.metrics_unavailable,
};
const SEVERITY: Verdict[] = ['breached', 'unavailable', 'inconclusive'];

/** The worst verdict of the metrics that count. */
function overall(metrics: readonly MetricResult[]): Verdict {
  const counting = metrics.filter((metric) => !metric.dry_run).map((metric) => metric.verdict);
  return SEVERITY.find((verdict) => counting.includes(verdict)) ?? 'pass';
}

/** A breach within failure_limit passes; the breaches of earlier steps of this rollout count. */
function forgiven(result: MetricResult, metric: AnalysisMetricDto, context: Context): MetricResult {
  if (result.verdict !== 'breached' || metric.failure_limit === 0) return result;
  const earlier = Object.values(context.results).flatMap((one) => (one as Partial<Judgement>)?.metrics ?? []);
  const breaches = earlier.filter(
    (one) => one.metric === result.metric && one.stat === result.stat && one.check === result.check && isBreach(one),
  ).length;
  return breaches < metric.failure_limit ? { ...result, verdict: 'pass' } : result;
}

function describe({ verdict, metrics }: Judgement): string {
  const culprits = metrics.filter((metric) => metric.verdict === verdict && !metric.dry_run);
  return `${verdict}: ${culprits.map((one) => `${one.metric} ${one.stat} ${one.candidate.value ?? 'without samples'} (${one.candidate.samples} samples, limit ${one.limit})`).join('; ')}`;
}

function floorSecond(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000);
}

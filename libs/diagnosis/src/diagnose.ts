import { failuresOf, subtractHistograms, type RequestStats } from '@slipway/dataplane';
import { metricOf, type RateMetric } from '@slipway/contracts';
import { blocksOf, type Block } from './blocks.js';
import { distributionOf, idleValue } from './curve.js';
import { blocked, isOutside, leastSamples, measured, measuredShare, sideOf } from './interval.js';
import { messageOf } from './messages.js';
import { Predictor, type Prediction } from './predictor.js';
import type { Cause, Diagnosis, DiagnosisInput, Gap, Goal, GoalDiagnosis, MeasuredValue } from './types.js';
import { haveTokensMoved, movedMembers, observedWorkload } from './workload.js';

/** A cache that is fuller than this decides latencies more than the number of requests does. */
const NEARLY_FULL = 0.85;
/** Share of the window that the samples must span. */
const LEAST_SPAN = 0.8;

/**
 * Says why each goal is missed, and how many instances would be enough. Pure: equal records give equal diagnoses.
 * @see Cause for the order: the first that applies is the cause
 */
export function diagnose(input: DiagnosisInput, predictor = new Predictor(input)): Diagnosis {
  const observed = observedWorkload(input.history, input.arrivals);
  const byLoad = input.goals.filter((goal) => distributionOf(goal.metric));
  const barrier = barrierOf(input);
  const count = barrier ? { needed: null, because: barrier } : predictor.replicasFor(byLoad);
  const judge = new Judge(input, predictor);
  const goals = input.goals.map((goal) => judge.judge(goal, count));
  return {
    workload: { declared: input.declared, observed, moved: movedMembers(input.declared, observed) },
    goals,
    needed: count.needed,
  };
}

/** Why no number of instances is computed, even if the cause is known. */
function barrierOf({ window, history, evidence }: DiagnosisInput): Gap | undefined {
  if (window.some(({ kvUsage }) => kvUsage !== null && kvUsage > NEARLY_FULL)) return 'cache_full';
  return haveTokensMoved(window, history, evidence.minSamples) ? 'tokens_moved' : undefined;
}

class Judge {
  private readonly window: Block[];
  /** Blocks of the window in which requests failed no more than usual. */
  private readonly healthy: Block[];

  constructor(
    private readonly input: DiagnosisInput,
    private readonly predictor: Predictor,
  ) {
    this.window = blocksOf(input.window);
    this.healthy = this.window.filter((block) => shareOf(block) <= input.errorLimit);
  }

  judge(goal: Goal, count: { needed: number | null; because?: Gap }): GoalDiagnosis {
    const { pool } = this.input;
    const value = this.valueOf(goal, this.window);
    const idle = this.idleOf(goal);
    const { cause, because } = this.causeOf(goal, value, idle);
    const isContradicted = cause === 'load_dependent' && count.needed !== null && count.needed <= pool.replicas;
    const isSized = (cause === 'load_dependent' && !isContradicted) || cause === 'met';
    const needed = isSized ? count.needed : null;
    const predicted = needed === null ? undefined : this.predictor.predict(goal, needed);
    const sizeGap = isContradicted ? 'contradicted' : count.because;
    const gap = because ?? (cause === 'load_dependent' && needed === null ? sizeGap : undefined);
    const found: Omit<GoalDiagnosis, 'message'> = {
      goal,
      cause,
      ...(gap && { because: gap }),
      value,
      idle,
      predicted: predicted && 'value' in predicted ? intervalOf(predicted) : null,
      replicas: { now: pool.replicas, needed, atRate: needed === null ? null : this.predictor.peakRate },
      curve: this.predictor.curve(goal),
    };
    return { ...found, message: messageOf(found, this.failureClasses()) };
  }

  private causeOf(
    goal: Goal,
    value: MeasuredValue | null,
    idle: MeasuredValue | null,
  ): { cause: Cause; because?: Gap } {
    const thin = this.thinness(goal, value);
    if (!value || thin) return { cause: 'unknown', because: thin ?? 'samples' };
    if (!isOutside(goal, value.value)) return { cause: 'met' };
    if (sideOf(goal, value) !== 'missed') return { cause: 'unknown', because: 'confidence' };
    const definition = metricOf(goal.metric);
    if (definition.kind === 'rate') return this.causeOfShare(definition);
    if (this.isMissedOnlyWithErrors(goal)) return { cause: 'errors' };
    if (idle && sideOf(goal, idle) === 'missed') return { cause: 'intrinsic' };
    if (this.isMissedOnlyByStarting(goal)) return { cause: 'starting' };
    const curve = this.predictor.curve(goal);
    if (curve.some((point) => sideOf(goal, point) === 'met')) return { cause: 'load_dependent' };
    const isUnsure = curve.some((point) => sideOf(goal, point) === 'unsure');
    return { cause: 'unknown', because: curve.length === 0 ? 'samples' : isUnsure ? 'confidence' : 'never_seen' };
  }

  private causeOfShare({ counts }: RateMetric): { cause: Cause; because?: Gap } {
    // An overloaded engine and clients that leave may be a matter of load, which shares do not show.
    return counts === 'failed' || counts === 'client_error'
      ? { cause: 'errors' }
      : { cause: 'unknown', because: 'not_by_load' };
  }

  private thinness(goal: Goal, value: MeasuredValue | null): Gap | undefined {
    if (!value || value.n < leastSamples(goal.stat, this.input.evidence.minSamples)) return 'samples';
    const filled = this.input.window.map(({ stats }) => countOf(goal, stats) > 0);
    const span = (filled.lastIndexOf(true) - filled.indexOf(true) + 1) / Math.max(1, filled.length);
    return span < LEAST_SPAN ? 'duration' : undefined;
  }

  private valueOf(goal: Goal, blocks: readonly Block[]): MeasuredValue | null {
    const { confidence } = this.input.evidence;
    const definition = metricOf(goal.metric);
    if (definition.kind === 'rate')
      return measuredShare(
        blocks.map((block) => failures(definition, block)),
        confidence,
      );
    const metric = distributionOf(goal.metric);
    return metric ? measured(goal.stat, blocked(blocks.map((block) => block.overall(metric))), confidence) : null;
  }

  private idleOf(goal: Goal): MeasuredValue | null {
    const metric = distributionOf(goal.metric);
    return metric ? idleValue(goal, this.predictor.valuesOf(metric), this.input.evidence) : null;
  }

  /** Blocks with many failures have the missed latencies: the others, if there are any, meet the goal. */
  private isMissedOnlyWithErrors(goal: Goal): boolean {
    if (this.healthy.length === this.window.length) return false;
    const rest = this.valueOf(goal, this.healthy);
    return !rest || !isOutside(goal, rest.value);
  }

  private isMissedOnlyByStarting(goal: Goal): boolean {
    const metric = distributionOf(goal.metric);
    if (!metric || !this.window.some((block) => block.starting(metric).n > 0)) return false;
    const settled = this.window.map((block) => subtractHistograms(block.overall(metric), block.starting(metric)));
    const value = measured(goal.stat, blocked(settled), this.input.evidence.confidence);
    return !value || sideOf(goal, value) === 'met';
  }

  /** Attempts that failed in the window, by class. */
  private failureClasses(): Record<'server_error' | 'connect_error', number> {
    const sum = (name: 'server_error' | 'connect_error') =>
      this.input.window.reduce((all, { stats }) => all + stats.counts[name], 0);
    return { server_error: sum('server_error'), connect_error: sum('connect_error') };
  }
}

function intervalOf({ value, low, high }: Prediction) {
  return { value, low, high };
}

function countOf(goal: Goal, stats: RequestStats): number {
  const definition = metricOf(goal.metric);
  if (definition.kind === 'rate') return failuresOf(definition, stats).of;
  return stats[goal.metric as 'ttft_ms'].n;
}

function failures(definition: RateMetric, { records }: Block): { failed: number; of: number } {
  const all = records.map(({ stats }) => failuresOf(definition, stats));
  return { failed: all.reduce((sum, { failed }) => sum + failed, 0), of: all.reduce((sum, { of }) => sum + of, 0) };
}

function shareOf(block: Block): number {
  const { failed, of } = failures(metricOf('error_rate') as RateMetric, block);
  return of === 0 ? 0 : failed / of;
}

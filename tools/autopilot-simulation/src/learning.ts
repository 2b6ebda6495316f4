import { ideaKeyOf, outcomesOf, revertDraft, type PlanDraft } from '@slipway/area-autopilot/rounds';
import type { DueOutcome, OutcomePhase, OutcomeRecord, RecordedOutcome } from '@slipway/ports/plans';
import { adviceFor, served, type CellContext } from './cells.js';
import type { EngineOption } from './options.js';
import type { Profile } from './profiles.js';
import type { Advice } from './proposal.js';
import type { RolloutStep, Service } from './runs.js';

/* Plans that are executed, and what the autopilot learns from them. */

/** Instances now, and those that are needed. */
export type Size = readonly [from: number, to: number];

/** An executed plan, judged by the metrics that moved by at least a fifth. */
export interface ExecutedPlan {
  /** Plans whose errors decided the interval; 0 if there were too few. */
  calibratedOn: number;
  /** Whether both outcomes are inside the interval; null if nothing moved, or if the service was used otherwise. */
  isWithin: boolean | null;
  /** Half of the interval's width as a share of the predicted value. */
  halfWidth: number;
  result: string;
}

/** As the product: the newest plans of the tenant. */
const MOST_SCORES = 200;

/** A tenant whose plans are executed one after another. The error of each decides the intervals of the later ones. */
export class Tenant {
  private readonly scores: number[] = [];

  /** Returns undefined if the autopilot proposes nothing. */
  execute(context: CellContext, seed: number, [from, to]: Size): ExecutedPlan | undefined {
    const { run } = context.options;
    const { rate, threshold } = context.truth.situation(to, run.margin, from);
    const service = served(context, { seed, low: run.low, rate, replicas: from });
    const calibration = this.scores.slice(-MOST_SCORES);
    const advice = adviceFor(context, service, { replicas: from, threshold, calibration });
    if (!advice.plan) return undefined;
    service.promote(advice.replicas as number, stepsOf(advice.plan));
    const execution = new Execution(service, advice, run['window-minutes'], context.profile);
    const first = execution.next('promotion');
    const second = execution.next(first ? 'window' : 'promotion');
    const outcomes = [...(first?.outcomes ?? []), ...(second?.outcomes ?? [])];
    const moved = outcomes.filter(({ hasMoved, logError }) => hasMoved && logError !== null);
    if (moved.length > 0) this.scores.push(Math.max(...moved.map(({ logError }) => Math.abs(logError as number))));
    const [stated] = advice.plan.predictedImpact?.['metrics'] as StatedMetric[];
    const { value, low, high } = (stated as StatedMetric).predicted;
    return {
      calibratedOn: (stated as StatedMetric).calibrated_on,
      isWithin: moved.length > 0 ? moved.every(({ within }) => within) : null,
      halfWidth: (high - low) / 2 / value,
      result: resultOf(outcomes),
    };
  }
}

function stepsOf({ rollout }: PlanDraft): readonly RolloutStep[] {
  return (rollout?.['strategy'] as { steps: readonly RolloutStep[] }).steps;
}

interface StatedMetric {
  predicted: { value: number; low: number; high: number };
  calibrated_on: number;
}

/** The consequences of a plan whose instances are far slower than those that the prediction knows. */
export interface WorseOutcome {
  result: string;
  /** Whether a revert plan follows from the first outcome, a window after the promotion, and leads back. */
  isReverted: boolean;
  /** Whether the same changes are proposed again by the service that was taken back. */
  isRepeated: boolean;
  /** Why nothing is proposed there. */
  because: string;
  /** Whether they are proposed for another model. */
  isProposedForAnotherModel: boolean;
}

/** Iterations of the new instances take so many times as long. Two of them then do less than one did before. */
const SLOWER = 4;
const DURATIONS = ['step-ms', 'token-us', 'kv-token-us'] as const satisfies EngineOption[];
/** Another model has other random numbers. */
const OTHER_SEED = 700_000_000;

/** Instances before the plan. They are busy and not overloaded, because nothing is worse than the patience of clients. */
const BEFORE = 2;
const BUSY = 0.8;
/** How many times as high as the SLO their value is. */
const MISSED = 1.7;

/** Returns undefined if the autopilot proposes nothing. */
export function worsePlan(context: CellContext, seed: number): WorseOutcome | undefined {
  const { profile, truth, options } = context;
  const { run } = options;
  const from = BEFORE;
  const rate = BUSY * from * truth.capacity;
  const threshold = truth.at(from, rate) / MISSED;
  const service = served(context, { seed, low: run.low, rate, replicas: from });
  const advice = adviceFor(context, service, { replicas: from, threshold });
  const { plan } = advice;
  if (!plan) return undefined;
  // They are slow from the promotion on, so that no step of the rollout could show it.
  const execution = new Execution(service, advice, run['window-minutes'], slower(profile));
  const first = execution.next('promotion');
  const idea = { key: keyOf(plan, advice), planId: PLAN_ID, result: 'worse' as const, at: execution.now };
  // A person approves the revert plan.
  service.promote(from, stepsOf(plan));
  service.serve(from, run['window-minutes']);
  const again = adviceFor(context, service, { replicas: from, threshold, failedIdeas: [idea] });
  const other = served(context, { seed: seed + OTHER_SEED, low: run.low, rate, replicas: from });
  const model = 'another model';
  const forAnother = adviceFor(context, other, { replicas: from, threshold, failedIdeas: [idea], model });
  return {
    result: resultOf(first?.outcomes ?? []),
    isReverted: first !== undefined && first.needsRevert && leadsBack(plan, first.outcomes, advice, execution.now),
    isRepeated: again.plan !== null && keyOf(again.plan, again) === idea.key,
    because: again.because ?? 'another plan',
    isProposedForAnotherModel: forAnother.plan !== null,
  };
}

function slower(profile: Profile): Profile {
  const times = DURATIONS.map((name) => [name, SLOWER * profile.constants[name]]);
  return { ...profile, constants: { ...profile.constants, ...Object.fromEntries(times) } };
}

function keyOf({ changes }: PlanDraft, { situation }: Advice): string {
  return ideaKeyOf(changes, situation.spec, situation.policy, situation.engineVersion);
}

const PLAN_ID = 'plan';

/** Whether the revert plan sets every value to the one before the plan. */
function leadsBack(
  { changes, assumes, predictedImpact, summary }: PlanDraft,
  outcomes: readonly RecordedOutcome[],
  { situation: { spec, policy } }: Advice,
  at: Date,
): boolean {
  const dated = outcomes.map((one) => ({ ...one, at }));
  const executed = { planId: PLAN_ID, summary, changes, assumes, predictedImpact, outcomes: dated };
  const revert = revertDraft(executed, { name: 'executed', spec }, policy);
  const before = new Map(changes.map(({ path, from }) => [path, from]));
  return revert.changes.length === before.size && revert.changes.every((one) => before.get(one.path) === one.value);
}

/** The answers of a service at the busiest time, from the promotion of a plan on. */
class Execution {
  now: Date;
  private readonly promotedAt: Date;
  private readonly first: number;

  constructor(
    private readonly service: Service,
    private readonly advice: Advice,
    private readonly windowMinutes: number,
    /** Of the new instances. */
    private readonly profile: Profile,
  ) {
    this.first = service.gateway.records.length;
    this.now = this.promotedAt = new Date(60_000 * this.first);
  }

  /** Serves for a window, and returns what a round then records. Undefined if it waits for more samples. */
  next(phase: OutcomePhase): OutcomeRecord | undefined {
    const { plan, replicas, situation } = this.advice;
    this.service.serve(replicas as number, this.windowMinutes, this.profile);
    this.now = new Date(this.now.getTime() + 60_000 * this.windowMinutes);
    const records = this.service.gateway.records.slice(this.first);
    const availability = { minutes: records.length, refusedMinutes: 0 };
    const { kind, assumes, predictedImpact, evidence } = plan as PlanDraft;
    const due: DueOutcome = {
      planId: PLAN_ID,
      revisionId: 'executed',
      promotedAt: this.promotedAt,
      phase,
      contentDigest: '',
      baseRevisionId: 'revision',
      kind,
      content: { assumes, predicted_impact: predictedImpact, evidence },
    };
    const { policy } = situation;
    return outcomesOf(due, { now: this.now, policy, isActive: true, served: { records, availability } });
  }
}

/** The worst result of the outcomes. */
function resultOf(outcomes: readonly RecordedOutcome[]): string {
  const results = outcomes.map(({ result }) => result ?? 'unmeasured');
  return RESULTS.find((one) => results.includes(one)) ?? 'unmeasured';
}

const RESULTS = ['worse', 'no_effect', 'assumptions_moved', 'unmeasured', 'as_predicted', 'better'] as const;

import { Injectable } from '@nestjs/common';
import {
  lastWindowWith,
  reportersOf,
  statsBetween,
  type StatsReporter,
  statsCompleteUntil,
  type RequestStats,
} from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { done, sleep, StepFailed, type StepOutcome } from '@slipway/platform-durable/operations';
import { WORKER, type FailureCode } from '@slipway/contracts';
import type { NewEvent } from '@slipway/platform-durable/events';
import { isBreach, type MetricResult, type GateVerdict } from './analysis.js';
import { Candidate } from '../steps/candidate.js';
import { rolloutFailures } from '../rollout.errors.js';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';
import { soakSecondsAt, type RolloutContext, type RolloutInput, type StoredGate } from '../rollout.input.js';
import { isPassed, isTakenOver, promotionEvidence, TAKEN_OVER, type SoakResult } from '../steps/passage.js';
import {
  guardBaseline,
  judgeEarly,
  judgeSoak,
  type CheckWindow,
  type GateRecords,
  type JudgedGate,
  type Judgement,
} from './judgement.js';
import type { EarlyChecks } from './watch.js';
import type { GuardQuestion, GuardResult } from './guards.js';

/** Time to wait until the gateways have reported the last second of the soak. */
const STATS_LIMIT_MS = 10_000;
/** A gateway that is silent may have left. Until it counts as that, its windows are only late. */
const SILENT_LIMIT_MS = 25_000;
const STATS_LOOK_MS = 200;

/**
 * Judges a candidate by the requests that the gateways recorded during the soak.
 * First it waits until the records are complete, unless they already show a breach. Then it judges once and stores the
 * judgement. Then it acts on it. So the verdict, its event and its consequence always agree, even after a crash in
 * between.
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
    if (isTakenOver(context)) return done({ skipped: true, message: TAKEN_OVER });
    const soak = context.results[`soak:${step.number}`] as SoakResult | undefined;
    if (soak?.is_judged)
      return done({ skipped: true, message: 'A person has decided about the breach during the soak.' });
    if (isPassed(context) && !state?.['judgement'])
      return done({ skipped: true, message: 'Passed by a person.', evidence: promotionEvidence(context) });
    if (state?.['judgement']) return this.act(context, state['judgement'] as Judgement);
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
      return this.judgeOnce(tx, context);
    });
    if (!judgement)
      return sleep({
        forMs: STATS_LOOK_MS,
        status: 'running',
        message: 'Waiting for the gateways to report the metrics of the soak.',
        state: { isRead: true },
      });
    return sleep({
      forMs: 0,
      status: 'running',
      message: judgement.verdict,
      state: { judgement },
      commit: async () => ({ events: [this.completed(context, judgement)] }),
    });
  }

  /** Acts on a stored judgement: passes the step, fails it, or waits for a person. */
  act(context: RolloutContext, judgement: Judgement): StepOutcome {
    const { step } = context;
    const analysis = context.input.analysis as StoredGate;
    const { verdict } = judgement;
    const isByPerson = context.resumed || isPassed(context);
    const operationResult = {
      analysis: { ...(context.operation.result['analysis'] as object | undefined), [step.name]: judgement },
    };
    if (verdict === 'pass' || isByPerson) {
      return done({
        message: verdict === 'pass' ? verdict : `${verdict}; passed by a person`,
        evidence: { ...judgement, ...promotionEvidence(context) },
        result: { ...judgement, is_judged: true },
        operationResult,
      });
    }
    const action = verdict === 'breached' ? analysis.on_failure : analysis.on_inconclusive;
    const message = describe(judgement, context.input);
    if (action === 'rollback')
      throw new StepFailed(FAILURES[verdict], message, { evidence: judgement, result: operationResult });
    return sleep({
      status: 'waiting',
      waitingFor: 'decision',
      message,
      state: { judgement },
      commit: async () => ({ events: [this.paused(context, verdict)] }),
    });
  }

  completed(context: RolloutContext, judgement: Judgement): NewEvent {
    return this.event('rollout.analysis_completed', context, { step: context.step.name, ...judgement });
  }

  /** @param reason a verdict, or `person` */
  paused(context: RolloutContext, reason: GateVerdict | 'person'): NewEvent {
    return this.event('rollout.paused', context, { step: context.step.name, reason });
  }

  /**
   * Returns undefined while records may still arrive. A breach does not wait for them, because more records of other
   * gateways do not make its requests good. Records that are missing in the end can hide one, so nothing passes without
   * them. To read the records costs more than to ask who has reported, so an incomplete soak is read at its beginning and
   * at its end.
   */
  private async judgeOnce(tx: Tx, context: RolloutContext): Promise<Judgement | undefined> {
    const { input, step, state } = context;
    const soak = windowOfSoak(context);
    const revisionIds = [input.revisionId, input.foundActiveRevisionId].filter((id) => id !== null);
    const reporters = await reportersOf(tx, revisionIds, soak);
    const of = (one: StatsReporter['state']) =>
      reporters.filter(({ state }) => state === one).map(({ gatewayId }) => gatewayId);
    const [left, ahead, silent, missing] = (['left', 'ahead', 'silent', 'missing'] as const).map(of) as string[][];
    const waitMs = missing!.length + ahead!.length === 0 && silent!.length > 0 ? SILENT_LIMIT_MS : STATS_LIMIT_MS;
    const isIncomplete = ahead!.length + silent!.length + missing!.length > 0;
    const mayArrive = silent!.length + missing!.length > 0 && step.elapsedMs() <= waitMs;
    if (mayArrive && state?.['isRead']) return undefined;
    const judgement = await judgeSoak(this.recordsOf(tx, context), judgedGateOf(context), soak);
    if (mayArrive && judgement.verdict !== 'breached') return undefined;
    const gateways = Object.fromEntries(
      Object.entries({ left, ahead, silent, missing }).filter(([, some]) => some!.length > 0),
    );
    return {
      ...judgement,
      verdict: isIncomplete && judgement.verdict !== 'breached' ? 'unavailable' : judgement.verdict,
      ...(Object.keys(gateways).length > 0 && { gateways }),
    };
  }

  /**
   * Judges a soak that is not over. Returns undefined unless a check that may stop it now is a breach.
   * @param soak the seconds whose records are complete
   */
  judgeEarly(tx: Tx, context: RolloutContext, soak: CheckWindow, early: EarlyChecks): Promise<Judgement | undefined> {
    return judgeEarly(this.recordsOf(tx, context), judgedGateOf(context), soak, early);
  }

  /** The stable revision at the same time or, if it had too few requests then, the last time that it had enough. */
  guardBaseline(
    tx: Tx,
    context: RolloutContext,
    window: CheckWindow,
    minSamples: number,
  ): Promise<GuardQuestion['stable']> {
    return guardBaseline(this.recordsOf(tx, context), window, minSamples);
  }

  private recordsOf(tx: Tx, context: RolloutContext): GateRecords {
    const { revisionId, foundActiveRevisionId: stableId } = context.input;
    // Checks and guards of one judgement mostly read the same window.
    const known = new Map<string, Promise<RequestStats>>();
    const statsOf = (id: string, { from, to }: CheckWindow): Promise<RequestStats> => {
      const key = `${id} ${from.getTime()} ${to.getTime()}`;
      const stats = known.get(key) ?? statsBetween(tx, id, from, to);
      known.set(key, stats);
      return stats;
    };
    return {
      candidate: (window) => statsOf(revisionId, window),
      async *stable(window, minSamples) {
        for (const find of [sameWindow, lastWindow, windowBefore]) {
          const found = await find(tx, context, { ...window, minSamples });
          if (!found || !stableId) continue;
          const stats = await statsOf(stableId, found);
          yield { stats, basis: find === sameWindow ? 'same_time' : 'earlier' };
        }
      },
      isStableReady: async () => stableId !== null && (await this.candidate.hasReadyInstances(tx, stableId)),
    };
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

/** A search for a window of the stable revision of the same length. */
interface WindowSearch extends CheckWindow {
  minSamples: number;
}

/** The soak before an `analyze` step. An earlier version stored no beginning, and had no pauses. */
function windowOfSoak({ input, step, results }: RolloutContext): CheckWindow {
  const to = floorSecond(step.startedAt);
  const { from } = (results[`soak:${step.number}`] ?? {}) as Partial<SoakResult>;
  const seconds = Math.max(1, soakSecondsAt(input.strategy, step.number));
  const earliest = new Date(to.getTime() - seconds * 1_000);
  return { from: from && Date.parse(from) < earliest.getTime() ? floorSecond(new Date(from)) : earliest, to };
}

/**
 * The window of the stable revision. If the stable revision was stopped for the candidate, the window ends before its
 * requests were held, because its last moments are no fair measure.
 */
async function sameWindow(
  _tx: Tx,
  { input, results }: RolloutContext,
  { from, to }: CheckWindow,
): Promise<CheckWindow | null> {
  if (!input.foundActiveRevisionId) return null;
  const heldSince = (results['hold_requests'] as { since?: string } | undefined)?.since;
  if (!heldSince) return { from, to };
  const end = floorSecond(new Date(heldSince));
  return { from: new Date(end.getTime() - (to.getTime() - from.getTime())), to: end };
}

async function lastWindow(tx: Tx, context: RolloutContext, check: WindowSearch): Promise<CheckWindow | null> {
  const same = await sameWindow(tx, context, check);
  return same && lastWindowUntil(tx, context, check, same.to);
}

async function windowBefore(tx: Tx, context: RolloutContext, check: WindowSearch): Promise<CheckWindow | null> {
  const { createdAt } = context.operation;
  return context.input.foundActiveRevisionId ? lastWindowUntil(tx, context, check, floorSecond(createdAt)) : null;
}

function lastWindowUntil(
  tx: Tx,
  { input }: RolloutContext,
  { minSamples, from, to }: WindowSearch,
  before: Date,
): Promise<CheckWindow | null> {
  return lastWindowWith(tx, input.foundActiveRevisionId as string, {
    before,
    seconds: (to.getTime() - from.getTime()) / 1_000,
    minAttempts: minSamples,
  });
}

function judgedGateOf(context: RolloutContext): JudgedGate {
  return {
    gate: context.input.analysis as StoredGate,
    strategy: context.input.strategy,
    forgive: (result, metric) => forgiven(result, metric, context),
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

function describe({ verdict, metrics, guards = [], gateways = {} }: Judgement, input: RolloutInput): string {
  const checks = metrics.filter((metric) => metric.verdict === verdict && !metric.dry_run);
  const ours = guards.filter((guard) => guard.verdict === verdict);
  const hasNone = ours.some(({ reason }) => reason === 'no_requests');
  const { left: _, ...incomplete } = gateways;
  const reasons = [
    ...checks.map(
      (one) =>
        `${one.metric} ${one.stat} ${one.candidate.value ?? 'has no value'} (${one.candidate.samples} samples, limit ${one.limit})${one.reason ? `: ${REASONS[one.reason]}` : ''}`,
    ),
    ...(hasNone ? [nothingJudged(input)] : ours.map(guardText)),
    ...Object.values(incomplete)
      .flat()
      .map((id) => `the records of gateway ${id} are incomplete`),
  ];
  return `${verdict}: ${reasons.join('; ')}`;
}

function nothingJudged({ revisionName, deploymentName }: RolloutInput): string {
  return `nothing was judged, because no request reached ${revisionName} during the soak. Continue without a verdict with \`slipway rollouts promote ${deploymentName}\`, or stop with \`slipway rollouts abort ${deploymentName}\``;
}

const REASONS: Record<NonNullable<GuardResult['reason']>, string> = {
  few_callers: 'too few callers cause the difference',
  unknown_callers: 'the callers of requests that still wait are unknown',
  few_requests: 'too few requests to roll back',
  more_traffic: 'its instances got more traffic',
  no_baseline: 'the stable revision has neither requests nor a ready instance',
  no_requests: 'no request',
};

function guardText({ metric, candidate, baseline, limit, reason }: GuardResult): string {
  const compared = baseline ? `stable revision ${shownShare(baseline.value)}` : 'no requests of the stable revision';
  const value = `${metric} ${shownShare(candidate.value)} (${candidate.samples} requests, ${compared}, limit ${100 * limit} points more)`;
  return reason ? `${value}: ${REASONS[reason]}` : value;
}

function shownShare(share: number | null): string {
  return share === null ? 'has no value' : `${Math.round(share * 1_000) / 10} %`;
}

/** Records of a gateway that has not reported for longer are not waited for. */
export const LATE_MS = 3_000;

/** The end of the seconds that all gateways have recorded, or of those that are not waited for any longer. */
export async function recordedUntil(tx: Tx): Promise<Date> {
  const earliest = new Date((await tx.now()).getTime() - LATE_MS);
  const complete = await statsCompleteUntil(tx);
  return floorSecond(complete && complete > earliest ? complete : earliest);
}

export function floorSecond(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000);
}

import { Inject, Injectable } from '@nestjs/common';
import { countsBySecond, statsBetween } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { done, sleep, type StepOutcome } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type WorkloadStatus } from '@slipway/ports/instances';
import { Analyst, floorSecond, recordedUntil } from '../gates/analyst.js';
import { judgedRequests } from '../gates/guards.js';
import type { Judgement } from '../gates/judgement.js';
import { beginWatch, dueChecks, limitsFrom, watchedShares, watchOn, type WatchState } from '../gates/watch.js';
import { percentAt, soakSecondsAt, type RolloutContext, type StoredGate } from '../rollout.input.js';
import { Candidate, didNotStayUp } from './candidate.js';
import {
  downEvidence,
  isDown,
  isPassed,
  isTakenOver,
  promotionEvidence,
  TAKEN_OVER,
  type SoakResult,
} from './passage.js';

/** How often a soak is read: gateways report every second. */
const LOOK_MS = 2_000;
/** How long a soaking candidate may give no answer. */
const SILENCE_LIMIT_MS = 15_000;
const SILENCE_LOOK_MS = 250;
/** An instance that crashes may be back soon, and until then the candidate gets its share. */
const STABLE_DOWN_LIMIT_MS = 10_000;
/** A share that differs by more than this part of itself is reported. */
const MAX_SHARE_ERROR = 0.25;
const MIN_SHARE_REQUESTS = 20;

/** Kept between the runs of a soak. */
interface SoakState {
  /** `step.elapsedMs()` when no instance of the candidate, or of the stable revision, was ready for the first time. */
  silentSince?: number;
  stableDownSince?: number;
  /** The deployment shows the pause. */
  isPauseShown?: boolean;
  watch?: WatchState;
  /** A breach, before it is acted upon. */
  judgement?: Judgement;
}

/**
 * The step in which a candidate serves for a while. It sleeps in Postgres, and the reconciler wakes it when an instance of
 * the candidate changes, so it notices a crash at once. Every two seconds it reads what the gateways have recorded, and
 * stops at a breach.
 */
@Injectable()
export class Soak {
  constructor(
    private readonly database: Database,
    private readonly candidate: Candidate,
    private readonly analyst: Analyst,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  async run(context: RolloutContext): Promise<StepOutcome> {
    const { input, step } = context;
    const state = (context.state ?? {}) as SoakState;
    if (state.judgement) return this.analyst.act(context, state.judgement);
    const from = step.startedAt.toISOString();
    if (isPassed(context))
      return done({ message: 'Passed by a person.', evidence: promotionEvidence(context), result: { from } });
    if (isTakenOver(context)) return done({ skipped: true, message: TAKEN_OVER });
    const elapsedMs = step.elapsedMs();
    const [status, stable] = await this.database.tx('system', async (tx) => [
      await this.candidate.assertUp(tx, context, input.revisionId, input.revisionName),
      await this.stableStatus(tx, context),
    ]);
    // Without a crash, a silence may only mean that this worker has just started and has not probed yet.
    const silentSince = status?.ready === 0 ? (state.silentSince ?? elapsedMs) : undefined;
    if (silentSince !== undefined && elapsedMs - silentSince > SILENCE_LIMIT_MS)
      throw didNotStayUp(input.revisionName, status, 0);
    const stableDownSince = isDown(stable) ? (state.stableDownSince ?? elapsedMs) : undefined;
    if (
      silentSince === undefined &&
      stableDownSince !== undefined &&
      elapsedMs - stableDownSince > STABLE_DOWN_LIMIT_MS
    )
      return done({
        message: TAKEN_OVER,
        evidence: { stable: downEvidence(stable) },
        result: { from, takeover: true },
      });
    const { watch, judgement } = input.analysis ? await this.look(context, state.watch) : {};
    if (judgement) return this.judged(context, judgement);
    return this.goOn(context, { silentSince, stableDownSince, isPauseShown: state.isPauseShown, watch });
  }

  /** Reads what the gateways have recorded since the last run, and judges it if it may be a breach. */
  private async look(
    context: RolloutContext,
    known: WatchState | undefined,
  ): Promise<{ watch: WatchState; judgement?: Judgement }> {
    const { input, step } = context;
    const { strategy, revisionId, foundActiveRevisionId } = input;
    const gate = input.analysis as StoredGate;
    const start = floorSecond(step.startedAt);
    const watched = watchedShares(gate);
    return this.database.tx('system', async (tx) => {
      let watch = known ?? beginWatch(start);
      const until = await recordedUntil(tx);
      const from = new Date(watch.until);
      if (until <= from) return { watch };
      const isSplit = percentAt(strategy, step.number) < 100 && foundActiveRevisionId !== null;
      if (!isSplit && !watch.limits) watch = { ...watch, limits: await this.limits(tx, context, start) };
      const ids = foundActiveRevisionId === null ? [revisionId] : [revisionId, foundActiveRevisionId];
      const seconds = await countsBySecond(tx, ids, from, until);
      watch = watchOn(watch, seconds, { watched, candidateId: revisionId, until });
      const soakSeconds = soakSecondsAt(strategy, step.number);
      const due = dueChecks(watch, { watched, strategy, soakSeconds, elapsedMs: step.elapsedMs() });
      if (!due.early) return { watch };
      watch = due.watch;
      const judgement = await this.analyst.judgeEarly(tx, context, { from: start, to: until }, due.early);
      return { watch, judgement };
    });
  }

  private async limits(tx: Tx, context: RolloutContext, start: Date): Promise<Record<string, number>> {
    const gate = context.input.analysis as StoredGate;
    const { guards = [] } = gate;
    const seconds = Math.max(1, soakSecondsAt(context.input.strategy, context.step.number));
    const before = { from: new Date(start.getTime() - seconds * 1_000), to: start };
    const minSamples = Math.max(0, ...guards.map(({ min_samples }) => min_samples));
    const earlier = await this.analyst.guardBaseline(tx, context, before, minSamples);
    return limitsFrom(watchedShares(gate), guards, earlier?.stats);
  }

  /** Stores a breach with its event. The next run acts on it, so that both always agree. */
  private judged(context: RolloutContext, judgement: Judgement): StepOutcome {
    return sleep({
      forMs: 0,
      status: 'running',
      message: judgement.verdict,
      state: { judgement },
      commit: async () => ({ events: [this.analyst.completed(context, judgement)] }),
    });
  }

  private async goOn(context: RolloutContext, state: SoakState): Promise<StepOutcome> {
    const { operation, input, step } = context;
    const soakMs = soakSecondsAt(input.strategy, step.number) * 1_000;
    const leftMs = soakMs - step.elapsedMs();
    const isPaused = operation.pause !== null;
    if (leftMs <= 0 && state.silentSince === undefined && !isPaused) return this.complete(context);
    const lookMs = state.silentSince === undefined ? LOOK_MS : SILENCE_LOOK_MS;
    const reason = operation.pause?.reason;
    const { watch } = state;
    const hasTraffic = !watch || watch.requests > 0 || step.elapsedMs() < 2 * LOOK_MS;
    return sleep({
      forMs: isPaused ? LOOK_MS : Math.max(0, Math.min(lookMs, leftMs)),
      status: 'waiting',
      waitingFor: isPaused ? 'resume' : hasTraffic ? 'soak' : 'traffic',
      state: { ...state, isPauseShown: isPaused },
      message: isPaused
        ? `Paused${reason ? `: ${reason}` : ' by a person'}. ${Math.ceil(Math.max(0, leftMs) / 1_000)} s of the soak are left.`
        : `Soaking for ${Math.ceil(Math.max(0, leftMs) / 1_000)} s more.`,
      commit: async (tx) => {
        await this.instances.wakeOnChange(tx, input.revisionId, operation.id);
        if (isPaused === (state.isPauseShown ?? false)) return undefined;
        await this.deployments.lockById(tx, input.deploymentId);
        await this.deployments.update(tx, input.deploymentId, { state: isPaused ? 'paused' : 'progressing' });
        return { events: isPaused ? [this.analyst.paused(context, 'person')] : [] };
      },
    });
  }

  private async complete(context: RolloutContext): Promise<StepOutcome> {
    const { input, step } = context;
    const seconds = soakSecondsAt(input.strategy, step.number);
    const share = await this.database.tx('system', (tx) => this.receivedShare(tx, context));
    const result: SoakResult = { from: step.startedAt.toISOString() };
    if (!share) return done({ message: `Soaked for ${seconds} s.`, result });
    const sessions = `${share.sessions} ${share.sessions === 1 ? 'session' : 'sessions'}`;
    return done({
      message: `Soaked for ${seconds} s. The candidate received ${share.received_percent} % of the requests instead of ${share.configured_percent} %, because sessions stay on their revision (${sessions}).`,
      evidence: { share },
      result,
    });
  }

  /** Returns the share that the candidate received, if sessions made it differ from the one that the route has. */
  private async receivedShare(tx: Tx, { input, step }: RolloutContext) {
    const configured = percentAt(input.strategy, step.number);
    if (configured >= 100 || input.foundActiveRevisionId === null) return undefined;
    const [from, to] = [floorSecond(step.startedAt), await recordedUntil(tx)];
    if (to <= from) return undefined;
    const candidate = await statsBetween(tx, input.revisionId, from, to);
    const stable = await statsBetween(tx, input.foundActiveRevisionId, from, to);
    const requests = judgedRequests(candidate) + judgedRequests(stable);
    const received = (100 * judgedRequests(candidate)) / requests;
    const share = configured / 100;
    // Three standard deviations: few requests differ by chance.
    const byChance = 300 * Math.sqrt((share * (1 - share)) / requests);
    const difference = Math.abs(received - configured);
    if (requests < MIN_SHARE_REQUESTS || difference <= Math.max(MAX_SHARE_ERROR * configured, byChance))
      return undefined;
    const sessions = new Set([...Object.keys(candidate.callers ?? {}), ...Object.keys(stable.callers ?? {})]).size;
    return { configured_percent: configured, received_percent: Math.round(received), requests, sessions };
  }

  private async stableStatus(tx: Tx, { input, step }: RolloutContext): Promise<WorkloadStatus | undefined> {
    if (input.foundActiveRevisionId === null || percentAt(input.strategy, step.number) >= 100) return undefined;
    return this.instances.status(tx, input.foundActiveRevisionId);
  }
}

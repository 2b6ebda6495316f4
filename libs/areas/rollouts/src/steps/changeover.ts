import { counted, countedAre } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { routeFollowers } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { done, sleep, StepFailed, type StepContext, type StepOutcome } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { instanceFailures, INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RouteHold, type RoutesPort, type RouteTarget } from '@slipway/ports/routing';
import { refused } from './candidate.js';
import { hasCapacityAfterStop } from '../acceptance.js';
import { takeOverOf, type ChangeoverInput } from '../rollout.input.js';

/** The data that the steps of a change-over need from their operation. */
export interface ChangeoverSubject {
  deploymentId: string;
  deploymentName: string;
  /** The new revision. */
  revisionId: string;
  revisionName: string;
  changeover?: ChangeoverInput;
}

type ChangeoverContext = StepContext<ChangeoverSubject>;
/** A hold needs no new revision. */
type HoldContext = StepContext<Pick<ChangeoverSubject, 'deploymentId' | 'deploymentName'>>;

const LOOK_MS = 250;
const CAPACITY_LOOK_MS = 1_000;
/** For live gateways that do not follow: the step does not wait for ever for one that cannot reach Postgres. */
const FOLLOW_LIMIT_MS = 10_000;

/**
 * The steps by which one revision gives its capacity to another if there is not enough for both. Rollout and rollback
 * share them.
 * Requests wait at the gateways from `hold` until the operation publishes a route without a hold. The stopped revisions
 * are suspended, but still retained: by the route or by the operation, as long as the operation is live. A suspension
 * ends with its operation.
 */
@Injectable()
export class Changeover {
  constructor(
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /**
   * Checks everything that can be known before anything stops.
   * - The new revision, and those that may have to return, can run here.
   * - The host has their programs and models. The step waits for downloads.
   * - The capacity is free. If other deployments use it, the step waits while the previous revision serves.
   * @param returning revisions that are started again if this fails
   */
  async preflight(
    context: ChangeoverContext,
    deadlineSeconds: number,
    returning: readonly string[],
  ): Promise<StepOutcome> {
    const { operation, input, state, step } = context;
    const { tenantId } = operation;
    if (!state) {
      return sleep({
        forMs: 0,
        status: 'running',
        state: { isAsked: true },
        commit: async (tx) => {
          for (const { id, spec } of await this.revisions.getMany(tx, [input.revisionId, ...returning]))
            await this.instances.prepare(tx, { tenantId, revisionId: id, spec }, operation.id);
        },
      });
    }
    const { capacity, issues } = await this.database.tx('system', async (tx) => {
      const { spec } = await this.revisions.get(tx, input.revisionId);
      const issues = await this.instances.check(tx, tenantId, spec);
      for (const previous of await this.revisions.getMany(tx, returning)) {
        const found = await this.instances.check(tx, tenantId, previous.spec);
        issues.push(...found.map((one) => ({ ...one, field: `${previous.name} could not start again: ${one.field}` })));
      }
      const { deploymentId, revisionId } = input;
      const takesOver = takeOverOf(input);
      return {
        issues,
        capacity: await this.instances.forecastCapacity(tx, { tenantId, deploymentId, revisionId, spec, takesOver }),
      };
    });
    if (issues.length > 0) throw refused(issues, { isRetryable: true });
    const leftMs = deadlineSeconds * 1_000 - step.elapsedMs();
    const unready = await this.unprepared(context, returning);
    if (unready && leftMs <= 0)
      throw new StepFailed(
        instanceFailures.target_not_ready,
        `Nothing was stopped, because the preparation did not finish within ${deadlineSeconds} s. ${unready}`,
      );
    if (unready) return sleep({ forMs: Math.min(LOOK_MS, leftMs), status: 'running', state, message: unready });
    if (hasCapacityAfterStop(capacity)) return done({ evidence: { capacity } });
    const [needed, freed] = [capacity.needed, capacity.own].map((count) => amountOf(count, capacity.resource));
    const what = `${input.revisionName} needs ${needed} on target ${capacity.target}. Stopping the previous revision frees ${freed}; other deployments use the rest.`;
    if (leftMs <= 0)
      throw new StepFailed(
        instanceFailures.capacity_exhausted,
        `The capacity did not become free within ${deadlineSeconds} s. ${what}`,
        { retryable: true, evidence: { capacity } },
      );
    return sleep({
      forMs: Math.min(CAPACITY_LOOK_MS, leftMs),
      status: 'running',
      state,
      message: `Waiting for capacity before anything stops. ${what}`,
    });
  }

  /**
   * Returns what the host must still prepare before a start; undefined if everything is there.
   * @throws StepFailed `target_not_ready` if something is missing for certain
   */
  private async unprepared(
    { operation, input }: ChangeoverContext,
    returning: readonly string[],
  ): Promise<string | undefined> {
    const found = await this.database.tx('system', async (tx) => {
      const revisions = await this.revisions.getMany(tx, [input.revisionId, ...returning]);
      return Promise.all(
        revisions.map(async ({ id, name }) => ({ name, ...(await this.instances.preparation(tx, id, operation.id)) })),
      );
    });
    for (const { name, failure } of found) {
      if (!failure) continue;
      const { cause, line, remediation, exit_code, log_tail } = failure;
      throw new StepFailed(
        instanceFailures.target_not_ready,
        `Nothing was stopped, because ${name} could not start: ${cause}: ${line ?? 'read its last lines'}. ${remediation}`,
        { evidence: { cause, exit_code, log_tail } },
      );
    }
    const open = found.find(({ state }) => state !== undefined && state !== 'ready');
    if (!open) return undefined;
    return open.state === 'asked'
      ? `Waiting for a worker of the target to check the requirements of ${open.name}.`
      : `Preparing ${open.name} before anything stops: ${this.instances.progressText(open.progress)}.`;
  }

  /** Done when every gateway holds requests. */
  async hold(context: HoldContext, hold: RouteHold, targets?: RouteTarget[]): Promise<StepOutcome> {
    const { input, state, step } = context;
    if (!state) {
      return sleep({
        forMs: 0,
        status: 'running',
        state: { isHeld: true },
        commit: async (tx) => {
          await this.deployments.lockById(tx, input.deploymentId);
          await this.publishHold(tx, context, hold, targets);
        },
      });
    }
    const { behind, gateways, since } = await this.database.tx('system', async (tx) => {
      const route = await this.routes.current(tx, input.deploymentId);
      const followers = await routeFollowers(tx, input.deploymentId, route?.generation ?? 0);
      return { ...followers, since: route?.hold?.since };
    });
    if (behind > 0 && step.elapsedMs() < FOLLOW_LIMIT_MS)
      return sleep({
        forMs: LOOK_MS,
        status: 'running',
        state,
        message: `Waiting for ${counted(behind, 'gateway')} to hold requests.`,
      });
    return done({
      message: `New requests wait for at most ${hold.maxSeconds} s each.`,
      result: { since },
      evidence: { gateways, gateways_behind: behind },
    });
  }

  async stop(
    context: ChangeoverContext,
    { stops, holdSeconds }: ChangeoverInput,
    deadlineSeconds: number,
  ): Promise<StepOutcome> {
    const { operation, input, state, step } = context;
    if (!state) {
      return sleep({
        forMs: 0,
        status: 'running',
        state: { inFlight: 0 },
        commit: async (tx) => {
          await this.deployments.lockById(tx, input.deploymentId);
          for (const { revisionId } of stops) {
            if (!(await this.instances.status(tx, revisionId))) continue;
            await this.instances.retain(tx, revisionId, `operation:${operation.id}`);
            await this.instances.suspend(tx, revisionId, operation.id, holdSeconds);
          }
        },
      });
    }
    const { alive, underWay } = await this.database.tx('system', async (tx) => {
      const statuses = await Promise.all(stops.map(({ revisionId }) => this.instances.status(tx, revisionId)));
      const counts = await Promise.all(stops.map(({ revisionId }) => this.instances.inFlight(tx, revisionId)));
      return { alive: sum(statuses.map((status) => status?.alive ?? 0)), underWay: sum(counts) };
    });
    const isDrained = step.elapsedMs() < holdSeconds * 1_000;
    // The last count before the reconciler stops waiting for them. After it, the engines may already be gone.
    const inFlight = isDrained ? underWay : Number(state['inFlight']);
    if (alive === 0) {
      const cut = isDrained ? 0 : inFlight;
      const message = `${namesOf(stops)} stopped.${cut > 0 ? ` ${counted(cut, 'request')} in flight had to end.` : ''}`;
      return done({ message, evidence: { requests_cut: cut }, operationResult: { requests_cut: cut } });
    }
    if (step.elapsedMs() > deadlineSeconds * 1_000)
      throw new StepFailed(
        instanceFailures.target_not_ready,
        `${namesOf(stops)} did not stop within ${deadlineSeconds} s`,
        { evidence: { alive } },
      );
    return sleep({
      forMs: LOOK_MS,
      status: 'running',
      state: { inFlight },
      message:
        underWay > 0 ? `${countedAre(underWay, 'request')} in flight.` : `${countedAre(alive, 'instance')} stopping.`,
      commit: async (tx) => {
        for (const { revisionId } of stops) await this.instances.wakeOnChange(tx, revisionId, operation.id);
      },
    });
  }

  /**
   * Starts the stopped revisions again and waits until they serve. The reconciler retries with back-off, and continues
   * after the deadline.
   */
  async startAgain(
    context: ChangeoverContext,
    { stops }: ChangeoverInput,
    deadlineSeconds: number,
  ): Promise<StepOutcome> {
    const { operation, input, state, step } = context;
    if (!state) {
      return sleep({
        forMs: 0,
        status: 'running',
        state: { isResumed: true },
        commit: async (tx) => {
          await this.deployments.lockById(tx, input.deploymentId);
          for (const { revisionId } of stops) await this.instances.resumeWorkload(tx, revisionId);
        },
      });
    }
    const down = await this.database.tx('system', (tx) => this.down(tx, stops));
    if (down.length === 0) return done({ message: `${namesOf(stops)} serves again.` });
    const names = namesOf(down);
    const trouble = down.find(({ message }) => message)?.message;
    const why = trouble ? `: ${trouble}` : '.';
    if (step.elapsedMs() > deadlineSeconds * 1_000)
      return done({
        message: `${names} did not start again within ${deadlineSeconds} s. The target keeps retrying${why}`,
        evidence: { down: down.map(({ revisionName }) => revisionName) },
      });
    return sleep({
      forMs: LOOK_MS,
      status: 'running',
      state,
      message: `Starting ${names} again${why}`,
      commit: async (tx) => {
        for (const { revisionId } of down) await this.instances.wakeOnChange(tx, revisionId, operation.id);
      },
    });
  }

  /**
   * Returns the revisions without an instance that answers. A sleeping revision is not down, because a request wakes
   * it.
   */
  async down(tx: Tx, stops: ChangeoverInput['stops']) {
    const statuses = await Promise.all(stops.map(({ revisionId }) => this.instances.status(tx, revisionId)));
    return stops
      .map((one, index) => ({ ...one, status: statuses[index] }))
      .filter(({ weight, status }) => weight > 0 && (status?.ready ?? 0) === 0 && !status?.isAsleep)
      .map(({ status, ...one }) => ({ ...one, message: status?.message ?? null }));
  }

  /**
   * Returns the seconds of the operation in which requests had to wait, including the current hold: the value of
   * `gap_seconds` in its result.
   */
  async gap({ operation, input }: HoldContext): Promise<{ isHeld: boolean; gapSeconds: number; message: string }> {
    const route = await this.database.tx('system', (tx) => this.routes.current(tx, input.deploymentId));
    const seconds = route?.hold?.heldSeconds ?? 0;
    const before = Number((operation.result as { gap_seconds?: number })['gap_seconds'] ?? 0);
    return {
      isHeld: Boolean(route?.hold),
      gapSeconds: Math.round((before + seconds) * 10) / 10,
      message: `Requests waited for ${seconds.toFixed(1)} s.`,
    };
  }

  /** Without a route there are no requests to hold. */
  private async publishHold(
    tx: Tx,
    { operation, input }: HoldContext,
    hold: RouteHold,
    targets: RouteTarget[] | undefined,
  ): Promise<void> {
    const route = await this.routes.current(tx, input.deploymentId);
    if (!route) return;
    await this.routes.apply(tx, {
      tenantId: operation.tenantId,
      deploymentId: input.deploymentId,
      deploymentName: input.deploymentName,
      targets: targets ?? route.targets,
      updatedBy: operation.requestedBy,
      reason: operation.reason,
      operationId: operation.id,
      keepPreviousSeconds: 0,
      hold,
    });
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function namesOf(revisions: readonly { revisionName: string }[]): string {
  return revisions.map(({ revisionName }) => revisionName).join(', ') || 'No revision';
}

function amountOf(count: number, resource: 'place' | 'device'): string {
  return resource === 'device' ? counted(count, 'device') : `capacity for ${counted(count, 'instance')}`;
}

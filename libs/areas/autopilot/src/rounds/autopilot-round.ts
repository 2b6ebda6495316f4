import { Inject, Injectable, Logger } from '@nestjs/common';
import { statsCompleteUntil } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { SlipwayError } from '@slipway/platform-http';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { POLICIES, type PoliciesPort, type Policy } from '@slipway/ports/policies';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { Advisor } from './advisor.js';
import { RECORDED_SECONDS } from './evaluation.js';
import { ScheduleStore, type WatchedDeployment } from './schedule.store.js';
import { readTelemetry, type Telemetry } from './slo-evidence.js';
import { Subscription, type EventSubscriber, type ReceivedEvent } from '@slipway/platform-durable/events';

/** Most deployments that one run reviews. */
const AT_ONCE = 5;
/** Number of reviews within the time that evidence must span: once a minute by default. */
const LOOKS_PER_WINDOW = 30;
const MOST_SECONDS_BETWEEN = 3_600;
const SECONDS_AFTER_FAILURE = 60;

/**
 * The rounds of the autopilot: it reviews each deployment with a policy at intervals. One review is one transaction, so
 * a worker that dies in it has no effect.
 */
@Injectable()
export class AutopilotRound {
  private readonly logger = new Logger('autopilot');

  constructor(
    private readonly schedules: ScheduleStore,
    private readonly advisor: Advisor,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  @Recurring({ name: 'autopilot', everySeconds: 1 })
  async run(transact: Transact): Promise<void> {
    const { due, until } = await transact('system', async (tx) => {
      const due = await this.schedules.due(tx, AT_ONCE);
      return { due, until: due.length === 0 ? null : await statsCompleteUntil(tx) };
    });
    for (const watched of due)
      await this.look(transact, watched, until ?? undefined).catch((failure) =>
        this.postpone(transact, watched, failure),
      );
  }

  /** Runs in a transaction of the tenant: it reads and writes the tenant's rows, and the audit row shows the tenant. */
  private look(transact: Transact, watched: WatchedDeployment, until: Date | undefined): Promise<void> {
    return transact({ tenantId: watched.tenantId }, async (tx) => {
      const seen = await this.find(tx, watched);
      const policy = await this.policies.current(tx, watched.deploymentId);
      if (!seen || !policy || policy.content.mode === 'off') return this.schedules.unwatch(tx, watched);
      const telemetry = await this.read(tx, seen, policy, until);
      // From here on no other transaction changes the deployment. The records were read before, because that can take a
      // while.
      const deployment = await this.deployments.lockById(tx, watched.deploymentId);
      const told = await this.schedules.take(tx, watched.deploymentId, secondsBetween(policy));
      if (
        !deployment ||
        !told ||
        deployment.activeRevisionId === null ||
        deployment.activeRevisionId !== seen.activeRevisionId
      )
        return;
      const [base] = await this.revisions.getMany(tx, [deployment.activeRevisionId]);
      if (base) await this.advisor.conclude(tx, { deployment, base, policy, telemetry, told });
    });
  }

  private async find(
    tx: Tx,
    { tenantId, deploymentId, deploymentName }: WatchedDeployment,
  ): Promise<Deployment | undefined> {
    try {
      const deployment = await this.deployments.get(tx, tenantId, deploymentName);
      return deployment.id === deploymentId ? deployment : undefined;
    } catch (missing) {
      if (missing instanceof SlipwayError && missing.status === 404) return undefined;
      throw missing;
    }
  }

  private async read(
    tx: Tx,
    deployment: Deployment,
    { content }: Policy,
    until: Date | undefined,
  ): Promise<Telemetry | undefined> {
    const { min_duration_seconds: seconds } = content.evidence;
    const isAsked = content.slos.length > 0 && seconds <= RECORDED_SECONDS;
    return until && isAsked && deployment.activeRevisionId
      ? readTelemetry(tx, deployment.activeRevisionId, until, seconds)
      : undefined;
  }

  /** A deployment that cannot be reviewed must not be retried every second. */
  private async postpone(
    transact: Transact,
    { tenantId, deploymentId }: WatchedDeployment,
    failure: unknown,
  ): Promise<void> {
    this.logger.warn(
      `Could not evaluate deployment ${deploymentId}; the next attempt is in ${SECONDS_AFTER_FAILURE} s: ${failure instanceof Error ? failure.message : String(failure)}`,
    );
    await transact({ tenantId }, (tx) => this.schedules.take(tx, deploymentId, SECONDS_AFTER_FAILURE));
  }
}

function secondsBetween({ content }: Policy): number {
  return Math.min(
    MOST_SECONDS_BETWEEN,
    Math.max(1, Math.ceil(content.evidence.min_duration_seconds / LOOKS_PER_WINDOW)),
  );
}

/** Learns from stored events which deployments have a policy, and therefore need reviews. */
@Injectable()
@Subscription({ name: 'autopilot', types: ['policy.updated'] })
export class PolicyWatch implements EventSubscriber {
  constructor(
    private readonly schedules: ScheduleStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  /** The current policy decides, not the one in the event: a later event may arrive first. */
  async receive(tx: Tx, event: ReceivedEvent): Promise<void> {
    const deploymentId = event.stream.split('/')[1] as string;
    const deployment = await this.deployments.lockById(tx, deploymentId);
    const policy = await this.policies.current(tx, deploymentId);
    const { tenantId } = event;
    if (!deployment || !policy || policy.content.mode === 'off')
      return this.schedules.unwatch(tx, { tenantId, deploymentId });
    await this.schedules.watch(tx, { tenantId, deploymentId, deploymentName: deployment.name });
  }
}

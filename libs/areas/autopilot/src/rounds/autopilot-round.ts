import { Inject, Injectable, Logger } from '@nestjs/common';
import { PausePoints } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { SlipwayError } from '@slipway/platform-http';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { POLICIES, type PoliciesPort, type Policy } from '@slipway/ports/policies';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { OutcomeRecorder } from '../learning/outcome-recorder.js';
import { Advisor } from './advisor.js';
import { hasGoals } from './goals.js';
import { RecordsReader } from './records-reader.js';
import { ScheduleStore, type WatchedDeployment } from './schedule.store.js';
import type { ReviewRecords } from './situation.js';
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
    private readonly reader: RecordsReader,
    private readonly recorder: OutcomeRecorder,
    private readonly pausePoints: PausePoints,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  @Recurring({ name: 'autopilot', everySeconds: 1 })
  async run(transact: Transact): Promise<void> {
    const due = await transact('system', (tx) => this.schedules.due(tx, AT_ONCE));
    for (const watched of due)
      await this.look(transact, watched).catch((failure) => this.postpone(transact, watched, failure));
  }

  /** Runs in a transaction of the tenant: it reads and writes the tenant's rows, and the audit row shows the tenant. */
  private async look(transact: Transact, watched: WatchedDeployment): Promise<void> {
    await transact({ tenantId: watched.tenantId }, async (tx) => {
      const seen = await this.find(tx, watched);
      const policy = await this.policies.current(tx, watched.deploymentId);
      if (!seen || !policy || policy.content.mode === 'off') return this.schedules.unwatch(tx, watched);
      const records = await this.read(tx, seen, policy);
      const executed = await this.recorder.read(tx, seen);
      await this.pausePoints.reach('autopilot:round:read');
      // From here on no other transaction changes the deployment. The records were read before, because that can take a
      // while.
      const deployment = await this.deployments.lockById(tx, watched.deploymentId);
      const told = await this.schedules.take(tx, watched.deploymentId, secondsBetween(policy));
      await this.pausePoints.reach('autopilot:round:taken');
      if (!deployment || !told) return;
      const { activeRevisionId: id } = deployment;
      const [base] = id === null ? [] : await this.revisions.getMany(tx, [id]);
      if (!base) return this.note(tx, watched, 'no_active_revision', 'The deployment has no active revision yet.');
      if (id !== seen.activeRevisionId)
        return this.note(tx, watched, 'revision_changed', 'Another revision became active during this round.');
      await this.advisor.conclude(tx, { deployment, base, policy, records, told, executed });
      await this.pausePoints.reach('autopilot:round:before-commit');
    });
    await this.pausePoints.reach('autopilot:round:after-commit');
  }

  private async note(tx: Tx, { deploymentId }: WatchedDeployment, because: string, message: string): Promise<void> {
    const at = (await tx.now()).toISOString();
    await this.schedules.decided(tx, deploymentId, { because, message, until: null, at });
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
    { activeRevisionId }: Deployment,
    { content }: Policy,
  ): Promise<ReviewRecords | undefined> {
    if (activeRevisionId === null || !hasGoals(content)) return undefined;
    const [active] = await this.revisions.getMany(tx, [activeRevisionId]);
    return active && this.reader.read(tx, active, content);
  }

  /** A deployment that cannot be reviewed must not be retried every second. */
  private async postpone(transact: Transact, watched: WatchedDeployment, failure: unknown): Promise<void> {
    const { tenantId, deploymentId } = watched;
    this.logger.warn(
      `Could not evaluate deployment ${deploymentId}; the next attempt is in ${SECONDS_AFTER_FAILURE} s: ${failure instanceof Error ? failure.message : String(failure)}`,
    );
    await transact({ tenantId }, async (tx) => {
      const told = await this.schedules.take(tx, deploymentId, SECONDS_AFTER_FAILURE);
      if (told)
        await this.note(tx, watched, 'failed', `The round failed. The next one is in ${SECONDS_AFTER_FAILURE} s.`);
    });
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

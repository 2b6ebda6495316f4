import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { statsCompleteUntil } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { SlipwayError } from '@slipway/platform-http';
import { Sweeper, type DueWork } from '@slipway/platform-operations';
import {
  DEPLOYMENTS,
  POLICIES,
  REVISIONS,
  type Deployment,
  type DeploymentsPort,
  type PoliciesPort,
  type Policy,
  type RevisionsPort,
} from '@slipway/ports';
import { Advisor } from './advisor.js';
import { RECORDED_SECONDS } from './evaluation.js';
import { ScheduleStore, type Watched } from './schedule.store.js';
import { readTelemetry, type Telemetry } from './telemetry.js';

/** How many deployments one sweep looks at: the other due work of the worker waits for it. */
const AT_ONCE = 5;
/** A look this often within the time that evidence must span: once a minute by default. */
const LOOKS_PER_WINDOW = 30;
const MOST_SECONDS_BETWEEN = 3_600;
const SECONDS_AFTER_FAILURE = 60;

/**
 * The rounds of the autopilot: each deployment with a policy is looked at every now and then. One look is one transaction,
 * so that a worker that dies in it has not looked at all.
 */
@Injectable()
export class AutopilotRound implements DueWork, OnModuleInit {
  readonly name = 'autopilot';
  private readonly logger = new Logger('autopilot');

  constructor(
    private readonly database: Database,
    private readonly sweeper: Sweeper,
    private readonly schedules: ScheduleStore,
    private readonly advisor: Advisor,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  onModuleInit(): void {
    this.sweeper.register(this);
  }

  async sweep(tx: Tx): Promise<void> {
    const due = await this.schedules.due(tx, AT_ONCE);
    if (due.length === 0) return;
    const until = (await statsCompleteUntil(tx)) ?? undefined;
    for (const watched of due) await this.look(watched, until).catch((failure) => this.postpone(watched, failure));
  }

  /** In a transaction of the tenant: what it reads and writes is the tenant's, and the audit row says so. */
  private look(watched: Watched, until: Date | undefined): Promise<void> {
    return this.database.tx({ tenantId: watched.tenantId }, async (tx) => {
      const seen = await this.find(tx, watched);
      const policy = await this.policies.current(tx, watched.deploymentId);
      if (!seen || !policy || policy.content.mode === 'off') return this.schedules.watch(tx, watched, false);
      const telemetry = await this.read(tx, seen, policy, until);
      // From here on nobody else changes the deployment; the records were read before, because that can take its time.
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

  private async find(tx: Tx, { tenantId, deploymentId, deploymentName }: Watched): Promise<Deployment | undefined> {
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

  /** One deployment that cannot be looked at must not be tried again every second. */
  private async postpone({ tenantId, deploymentId }: Watched, failure: unknown): Promise<void> {
    this.logger.warn(`deployment ${deploymentId}: ${failure instanceof Error ? failure.message : String(failure)}`);
    await this.database.tx({ tenantId }, (tx) => this.schedules.take(tx, deploymentId, SECONDS_AFTER_FAILURE));
  }
}

function secondsBetween({ content }: Policy): number {
  return Math.min(
    MOST_SECONDS_BETWEEN,
    Math.max(1, Math.ceil(content.evidence.min_duration_seconds / LOOKS_PER_WINDOW)),
  );
}

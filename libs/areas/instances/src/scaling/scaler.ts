import { effectiveScaling, type ScalingSpec } from '@slipway/contracts';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { loadsOf } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { appendEvents } from '@slipway/platform-durable/events';
import { counter, gauge } from '@slipway/platform-observability';
import { lockQuota } from '@slipway/platform-durable/quotas';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { InstanceEntity } from '../workloads/instance.entity.js';
import { BackendPublisher } from '../backends/backend-publisher.js';
import { reserveInstanceQuota } from './instance-capacity.js';
import {
  decideScaling,
  isAtMaximum,
  type ScalingDecision,
  type ScalingDirections,
  type ScalingSituation,
} from './scaling-decision.js';
import { deploymentScaled } from './scaling.events.js';
import {
  RECORD_SCALING,
  READ_SCALABLE_WORKLOADS,
  READ_SCALING_DIRECTIONS,
  SCALE_WORKLOAD,
  type ScalableRow,
} from './scaling.query.js';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { shareOfTenant } from '../workloads/target-share.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';
import { COUNT_NEEDED_OF_SHARE, LOCK_WORKLOAD } from '../workloads/workload.query.js';

/** Decisions that one run writes, each in a transaction. The rest follow a second later. */
const AT_ONCE = 50;

type ScalingOverride = Partial<ScalingSpec>;
type ScalableWorkload = ScalableRow & { scaling: WorkloadEntity['spec']['scaling'] };

const decisions = counter('slipway_scaling_decisions_total', 'Number of scaling decisions, by reason', ['reason']);

const atMaximum = gauge(
  'slipway_scaling_at_maximum',
  '1 for each revision whose load requires more instances than its max_replicas; each worker shows all of them',
  ['tenant', 'revision'],
);

/**
 * The only writer of `workloads.replicas` once a workload runs. Each run reads all workloads without a lock, and takes
 * a deployment's lock only if there is something to write. Under the lock it decides again, so neither a rollout nor
 * another worker can change the situation in between. The same lock orders the last decision before a sleep and the
 * wake-up. Its memory is the table `workload_scalings`.
 */
@Injectable()
export class Scaler {
  private readonly logger = new Logger('scaling');

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'rateLimit' | 'gateway'>,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    private readonly catalog: TargetCatalog,
    private readonly publisher: BackendPublisher,
  ) {}

  @Recurring({ name: 'scaling', everySeconds: 1 })
  async run(transact: Transact): Promise<void> {
    const due = await transact('system', async (tx) => {
      const overrides = await this.deployments.scalingOverrides(tx);
      const rows = await this.scalable(tx, [...overrides.keys()], null);
      const situations = await situationsOf(tx, rows, (row) => overrides.get(row.deployment_id));
      showMaximum(rows.filter((_row, index) => isAtMaximum(situations[index] as ScalingSituation)));
      return rows.filter((row, index) => isNews(row, decideScaling(situations[index] as ScalingSituation)));
    });
    for (const row of due.slice(0, AT_ONCE)) {
      try {
        await transact('system', (tx) => this.decide(tx, row));
      } catch (error) {
        this.logger.warn(`${row.revision_name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  /**
   * Decides about one workload now. Called by the run, and by a reconciler that has just seen a start out of sleep
   * fail.
   */
  async decide(tx: Tx, seen: Pick<ScalableWorkload, 'deployment_id' | 'tenant_id' | 'revision_id'>): Promise<void> {
    const deployment = await this.deployments.lockById(tx, seen.deployment_id);
    if (!deployment) return;
    await lockQuota(tx, seen.tenant_id, 'instances');
    await tx.one(LOCK_WORKLOAD, [seen.revision_id]);
    const [row] = await this.scalable(tx, [seen.deployment_id], seen.revision_id);
    if (!row) return;
    const [found] = await situationsOf(tx, [row], () => deployment.scaling);
    const directions = await directionsOf(tx, deployment.currentOperationId);
    const now = { ...(found as ScalingSituation), directions };
    const decision = await this.bounded(tx, row, decideScaling(now));
    if (isNews(row, decision)) await this.write(tx, row, now, decision);
  }

  /**
   * Bounds a decision by the target's capacity, the tenant's share of it and the tenant's quota. It does not check devices: the start waits for a
   * device, as every start does.
   */
  private async bounded(tx: Tx, row: ScalableWorkload, decision: ScalingDecision): Promise<ScalingDecision> {
    if (decision.replicas <= row.replicas) return decision;
    const requester = { tenantId: row.tenant_id, revisionId: row.revision_id };
    const wished = Math.min(decision.replicas, await this.mostOnTarget(tx, row));
    if (wished <= row.replicas) return { ...decision, replicas: row.replicas, reason: null };
    const { max, taken, isReserved } = await reserveInstanceQuota(tx, this.config, requester, wished);
    const replicas = Math.max(row.replicas, isReserved ? wished : max - taken);
    return replicas === row.replicas ? { ...decision, replicas, reason: null } : { ...decision, replicas };
  }

  /** Returns the most instances that the target and the tenant's share of it leave for the workload. */
  private async mostOnTarget(tx: Tx, row: ScalableWorkload): Promise<number> {
    const config = this.catalog.find(row.target)?.config;
    if (!config) return Number.POSITIVE_INFINITY;
    const most = config.max_instances ?? Number.POSITIVE_INFINITY;
    const { instances: share } = await shareOfTenant(tx, config, row.tenant_id);
    if (share === Number.POSITIVE_INFINITY) return most;
    const others = await tx.one<{ needed: number }>(COUNT_NEEDED_OF_SHARE, [
      row.tenant_id,
      row.revision_id,
      row.target,
    ]);
    return Math.min(most, share - (others?.needed ?? 0));
  }

  private async write(tx: Tx, row: ScalableWorkload, now: ScalingSituation, decision: ScalingDecision): Promise<void> {
    const { revision_id, tenant_id } = row;
    const { replicas, reason, isLow } = decision;
    await tx.query(RECORD_SCALING, [revision_id, tenant_id, isLow, reason, now.failure]);
    if (reason === null) return;
    await tx.query(SCALE_WORKLOAD, [revision_id, replicas]);
    const isWakeUp = row.replicas === 0;
    // Earlier failures do not count for the start that begins now.
    if (isWakeUp) {
      await tx
        .repository(InstanceEntity)
        .update({ revision_id, tenant_id }, { failure: null, failed_starts: 0, version: () => 'version + 1' });
    }
    if (isWakeUp || replicas === 0) {
      const workload = await tx.repository(WorkloadEntity).findOneByOrFail({ revision_id, tenant_id });
      await this.publisher.publish(tx, workload);
    }
    decisions.inc({ reason });
    await appendEvents(tx, tenant_id, deploymentStream(row.deployment_id), [deploymentScaled(row, now, decision)]);
  }

  /** Excludes adopted servers: their number does not depend on the load. */
  private async scalable(
    tx: Tx,
    overridden: readonly string[],
    revisionId: string | null,
  ): Promise<ScalableWorkload[]> {
    const rows = await tx.query<ScalableWorkload>(READ_SCALABLE_WORKLOADS, [overridden, revisionId]);
    return rows.filter(({ target }) => this.catalog.find(target)?.driver.adopts === false);
  }
}

function showMaximum(rows: readonly ScalableWorkload[]): void {
  atMaximum.reset();
  for (const { tenant_id: tenant, revision_name: revision } of rows) atMaximum.set({ tenant, revision }, 1);
}

/** Returns the directions that the current operation of a deployment allows. */
async function directionsOf(tx: Tx, operationId: string | null): Promise<ScalingDirections> {
  if (operationId === null) return 'both';
  const row = await tx.one<{ directions: ScalingDirections }>(READ_SCALING_DIRECTIONS, [operationId]);
  return row?.directions ?? 'both';
}

/** Without a lock, an operation is unknown, so the situations allow both directions. */
async function situationsOf(
  tx: Tx,
  rows: readonly ScalableWorkload[],
  overrideOf: (row: ScalableWorkload) => ScalingOverride | null | undefined,
): Promise<ScalingSituation[]> {
  const loads = await loadsOf(
    tx,
    rows.flatMap(({ revision_id, sibling_ids }) => [revision_id, ...sibling_ids]),
  );
  const loadOf = (id: string) => (loads.get(id)?.in_flight ?? 0) + (loads.get(id)?.held ?? 0);
  return rows.map((row) => {
    const load = loads.get(row.revision_id);
    const expected = row.is_awaited ? [row.revision_id, ...row.sibling_ids] : [];
    return {
      scaling: effectiveScaling(row.scaling, overrideOf(row)),
      replicas: row.replicas,
      ready: row.ready,
      starting: row.starting,
      in_flight: load?.in_flight ?? 0,
      held: load?.held ?? 0,
      expected_load: expected.reduce((sum, id) => sum + loadOf(id), 0),
      waiting: row.waiting,
      kv_usage: row.kv_usage,
      idle_age_seconds: Math.min(load?.idle_age ?? Number.POSITIVE_INFINITY, row.active_age_seconds),
      ready_age_seconds: row.ready_age_seconds,
      start_seconds: row.start_seconds,
      low_age_seconds: row.low_age_seconds,
      isAsleep: row.is_asleep,
      failure: row.failure,
      failures: row.failures,
      failure_age_seconds: row.failure_age_seconds,
      directions: 'both',
      isAwaited: row.is_awaited,
    };
  });
}

/**
 * Whether the decision must be written: the number changes, a time of low load begins or ends, or the workload is not
 * recorded yet.
 */
function isNews({ low_age_seconds, is_known }: ScalableRow, { reason, isLow }: ScalingDecision): boolean {
  return reason !== null || isLow !== (low_age_seconds !== null) || !is_known;
}

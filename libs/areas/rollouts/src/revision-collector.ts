import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';

/** Deployments that one round checks for a deletion. */
const OWNERS_AT_ONCE = 200;

/**
 * Deletes revisions without a reference beyond the deployment's `revision_history_limit`. A revision is kept as long as
 * any of these names it: a route, the deployment (as active, previous or candidate revision), the rollback window, a
 * pin, or a live operation. It also deletes what is left of a deployment that is deleted, except pinned revisions.
 */
@Injectable()
export class RevisionCollector {
  /** The last deployment that the previous round checked for a deletion. */
  private after = '';

  constructor(
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /** One transaction per deployment, so that locks are held only for one deployment at a time. */
  @Recurring({ name: 'revision-history', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    const crowded = await transact('system', (tx) => this.revisions.findCrowded(tx));
    for (const deploymentId of crowded) await transact('system', (tx) => this.collectFrom(tx, deploymentId));
    const deleted = await transact('system', (tx) => this.findDeleted(tx));
    for (const deploymentId of deleted) await transact('system', (tx) => this.revisions.removeOf(tx, deploymentId));
  }

  private async collectFrom(tx: Tx, deploymentId: string): Promise<void> {
    const deployment = await this.deployments.lockById(tx, deploymentId);
    if (!deployment || deployment.currentOperationId !== null) return;
    const kept = await this.referredTo(tx, deployment);
    await this.revisions.collect(tx, deploymentId, deployment.revisionHistoryLimit, kept);
  }

  /**
   * Returns the next deleted deployments that still have revisions: an earlier release kept them, or a binding that has
   * ended did.
   */
  private async findDeleted(tx: Tx): Promise<string[]> {
    const owners = await this.revisions.ownersAfter(tx, this.after, OWNERS_AT_ONCE);
    this.after = owners.length === OWNERS_AT_ONCE ? (owners.at(-1) ?? '') : '';
    const living = new Set(await this.deployments.living(tx, owners));
    return owners.filter((id) => !living.has(id));
  }

  private async referredTo(tx: Tx, deployment: Deployment): Promise<string[]> {
    const route = await this.routes.current(tx, deployment.id);
    const own = [deployment.activeRevisionId, deployment.previousRevisionId, deployment.candidateRevisionId];
    return [
      ...own.filter((id): id is string => id !== null),
      ...(route?.targets.map((target) => target.revisionId) ?? []),
    ];
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';

/**
 * Deletes revisions without a reference beyond the deployment's `revision_history_limit`. A revision is kept as long as
 * any of these names it: a route, the deployment (as active, previous or candidate revision), the rollback window, a
 * pin, or a live operation.
 */
@Injectable()
export class RevisionCollector {
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
  }

  private async collectFrom(tx: Tx, deploymentId: string): Promise<void> {
    const deployment = await this.deployments.lockById(tx, deploymentId);
    // A binding kept a revision of a deployment that is deleted, or an earlier release deleted it.
    if (!deployment) return this.revisions.removeOf(tx, deploymentId);
    if (deployment.currentOperationId !== null) return;
    const kept = await this.referredTo(tx, deployment);
    await this.revisions.collect(tx, deploymentId, deployment.revisionHistoryLimit, kept);
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

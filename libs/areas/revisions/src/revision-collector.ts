import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { Database, prepared, type Tx } from '@slipway/platform-database';
import { Sweeper, type DueWork } from '@slipway/platform-operations';
import {
  DEPLOYMENTS,
  REVISION_PINS,
  ROUTES,
  type Deployment,
  type DeploymentsPort,
  type RevisionPinsPort,
  type RoutesPort,
} from '@slipway/ports';

const EVERY_MS = 60_000;

const CROWDED = prepared(
  'revision-collect-crowded',
  `select deployment_id "deploymentId" from revisions where state in ('retired','failed') group by deployment_id having count(*) > 1 limit 200`,
);

/** What is beyond the limit, newest first, without what the rollback window (the last activations) still names. */
const SURPLUS = prepared(
  'revision-collect-surplus',
  `select id from revisions r
   where r.deployment_id = $1 and r.state in ('retired','failed') and r.id <> all($3)
     and r.id not in (select a.revision_id from revision_activations a where a.deployment_id = $1 order by a.id desc limit $2)
   order by r.number desc offset $2`,
);

const DELETE = prepared('revision-collect-delete', `delete from revisions where id = any($1)`);

/**
 * Deletes revisions that nothing refers to, beyond the deployment's `revision_history_limit`. A route, the active, previous
 * or candidate revision, the rollback window, a binding and a live operation each keep a revision for good.
 */
@Injectable()
export class RevisionCollector implements DueWork, OnModuleInit {
  readonly name = 'revision history';
  private last = 0;

  constructor(
    private readonly sweeper: Sweeper,
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Optional() @Inject(REVISION_PINS) private readonly pins?: RevisionPinsPort,
  ) {}

  onModuleInit(): void {
    this.sweeper.register(this);
  }

  async sweep(): Promise<void> {
    if (Date.now() - this.last < EVERY_MS) return;
    this.last = Date.now();
    await this.collect();
  }

  /** One transaction per deployment, so that no lock outlives the look at it. */
  async collect(): Promise<void> {
    const crowded = await this.database.read<{ deploymentId: string }>('system', CROWDED);
    for (const { deploymentId } of crowded)
      await this.database.tx('system', (tx) => this.collectFrom(tx, deploymentId));
  }

  private async collectFrom(tx: Tx, deploymentId: string): Promise<void> {
    const deployment = await this.deployments.lockById(tx, deploymentId);
    // Without somebody to ask about bindings nothing is surplus.
    if (!deployment || deployment.currentOperationId !== null || !this.pins) return;
    const kept = await this.referredTo(tx, deployment);
    const rows = await tx.query<{ id: string }>(SURPLUS, [deploymentId, deployment.revisionHistoryLimit, kept]);
    const ids = rows.map((row) => row.id);
    if (ids.length === 0) return;
    const pinned = new Set(await this.pins.pinned(tx, ids));
    await tx.query(DELETE, [ids.filter((id) => !pinned.has(id))]);
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

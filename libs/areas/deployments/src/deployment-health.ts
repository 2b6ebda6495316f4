import { Inject, Injectable } from '@nestjs/common';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import {
  DEPLOYMENTS,
  type DeploymentHealth,
  type DeploymentRecord,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type ServingStatus } from '@slipway/ports/instances';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';

/** Maximum number of deployments per run; the next run continues where the last one ended. */
const AT_ONCE = 25;

/**
 * Visits all living deployments, a few at a time, and stores their health if it has changed. An answer shows the
 * current health; the stored record adds since when. Without a change it writes nothing.
 */
@Injectable()
export class HealthRound {
  private after = '';

  constructor(
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  @Recurring({ name: 'deployment-health', everySeconds: 1 })
  run(transact: Transact): Promise<void> {
    return transact('system', async (tx) => {
      const { rows: records, hasMore } = await this.deployments.livingAfter(tx, this.after, AT_ONCE);
      this.after = hasMore ? (records[records.length - 1] as DeploymentRecord).id : '';
      const routes = await this.routes.currentOf(
        tx,
        records.map((record) => record.id),
      );
      const serving = await this.instances.serving(tx, [...routes.values()].flatMap(servingIds));
      for (const record of records)
        await this.deployments.observe(tx, record, healthOf(routes.get(record.id), serving));
    });
  }
}

const NO_ROUTE: DeploymentHealth = { isRouted: false, desired: 0, ready: 0, isServing: false };

/** Returns the revisions of a route that serve; those with a weight of 0 do not count. */
export function servingIds({ targets }: Route): string[] {
  return targets.filter((target) => target.weight > 0).map((target) => target.revisionId);
}

/** Returns the health of the revisions that serve a route. */
export function healthOf(route: Route | undefined, serving: ReadonlyMap<string, ServingStatus>): DeploymentHealth {
  const ids = route ? servingIds(route) : [];
  if (ids.length === 0) return NO_ROUTE;
  const statuses = ids.map((id) => {
    const { desired = 0, ready = 0, isAsleep = false } = serving.get(id) ?? {};
    return { desired, ready: Math.min(ready, desired), isAsleep };
  });
  return {
    isRouted: true,
    desired: statuses.reduce((sum, status) => sum + status.desired, 0),
    ready: statuses.reduce((sum, status) => sum + status.ready, 0),
    isServing: statuses.every((status) => status.ready > 0 || status.isAsleep),
    isAsleep: statuses.every((status) => status.isAsleep),
  };
}

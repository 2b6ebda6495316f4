import { Inject, Injectable } from '@nestjs/common';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type DeploymentRecord, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { healthOf, servingIds } from './deployment-answers.js';

/** How many deployments one run looks at; the next goes on where it ended. */
const AT_ONCE = 25;

/**
 * Goes round all living deployments, a few at a time, and writes what it sees of their health if that has changed: an
 * answer shows health as it is at that moment, this keeps since when. It writes nothing while nothing changes.
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
      const records = await this.deployments.livingAfter(tx, this.after, AT_ONCE);
      this.after = records.length < AT_ONCE ? '' : (records[records.length - 1] as DeploymentRecord).id;
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

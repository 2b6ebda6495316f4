import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { assertIfMatch, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit } from '@slipway/platform-mutations';
import { operationAnswer, OperationStore, type Claimed } from '@slipway/platform-operations';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { assertIdle, DELETION } from './deletion.operation.js';
import { deploymentEtag } from './deployment-answers.js';
import { assertDeletable } from './protection.errors.js';

@Injectable()
export class DeletionsService {
  constructor(
    private readonly database: Database,
    private readonly operations: OperationStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  create(who: Principal, name: string, ifMatch: string | undefined): Promise<Reply> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const claim = { operation: DELETION, resourceType: 'deployment', resourceName: name, requestedBy: who.actor };
      const [{ id }] = (await this.operations.claim(tx, [claim])) as [Claimed];
      const deployment = await this.deployments.lock(tx, who.tenantId, name);
      assertIfMatch(ifMatch, deploymentEtag(deployment, await this.routes.current(tx, deployment.id)));
      assertDeletable(deployment);
      assertIdle(deployment);
      await this.routes.takeTraffic(tx, deployment.id, id);
      await this.deployments.update(tx, deployment.id, { state: 'deleting', currentOperationId: id });
      const start = {
        id,
        operation: DELETION,
        resourceId: deployment.id,
        stream: deploymentStream(deployment.id),
        input: { deploymentId: deployment.id, deploymentName: name, stateBefore: deployment.state },
        steps: DELETION.steps,
      };
      await this.operations.start(tx, [start]);
      await appendAudit(tx, {
        action: 'deployment.delete',
        resourceType: 'deployment',
        resourceName: name,
        before: deployment,
      });
      return operationAnswer(id, (await this.operations.record(tx, id)) as string, true);
    });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { assertPreconditions, type Preconditions, type Principal, type Reply } from '@slipway/platform-http';
import { OperationRequests } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { assertIdle, DELETION } from './deletion.operation.js';
import { deploymentEtag } from './deployment-answers.js';
import { assertDeletable } from './protection.errors.js';
import { removeProtection } from './protection-removal.js';

@Injectable()
export class DeletionsService {
  constructor(
    private readonly requests: OperationRequests,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  create(principal: Principal, name: string, conditions: Preconditions): Promise<Reply> {
    const request = { principal, resourceType: 'deployment', resourceName: name };
    return this.requests.accept(DELETION, request, async (tx, operationId) => {
      const deployment = await this.deployments.lock(tx, principal.tenantId, name);
      await removeProtection(tx, deployment, principal);
      assertPreconditions(conditions, deploymentEtag(deployment, await this.routes.current(tx, deployment.id)));
      assertDeletable(deployment);
      assertIdle(deployment);
      await this.routes.takeTraffic(tx, deployment.id, operationId);
      await this.deployments.update(tx, deployment.id, { state: 'deleting', currentOperationId: operationId });
      return {
        resourceId: deployment.id,
        stream: deploymentStream(deployment.id),
        input: { deploymentId: deployment.id, deploymentName: name, stateBefore: deployment.state },
        steps: DELETION.steps,
        audit: { action: 'deployment.delete', resourceType: 'deployment', resourceName: name, before: deployment },
      };
    });
  }
}

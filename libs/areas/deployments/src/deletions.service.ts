import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { assertIfMatch, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit, operationAnswer, OperationStore } from '@slipway/platform-operations';
import { DEPLOYMENTS, deploymentStream, ROUTES, type DeploymentsPort, type RoutesPort } from '@slipway/ports';
import { deploymentEtag } from './deployment-answers.js';
import { assertIdle, DELETION_STEPS, type DeletionInput } from './deletion.operation.js';

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
      const { id } = await this.operations.claim(tx, {
        kind: 'delete_deployment',
        resourceType: 'deployment',
        resourceName: name,
        requestedBy: who.actor,
      });
      const deployment = await this.deployments.lock(tx, who.tenantId, name);
      assertIfMatch(ifMatch, deploymentEtag(deployment, await this.routes.current(tx, deployment.id)));
      assertIdle(deployment);
      await this.routes.takeTraffic(tx, deployment.id, id);
      await this.deployments.update(tx, deployment.id, { state: 'deleting', currentOperationId: id });
      const input: DeletionInput = { deploymentId: deployment.id, deploymentName: name, stateBefore: deployment.state };
      await this.operations.start(tx, id, {
        resourceId: deployment.id,
        stream: deploymentStream(deployment.id),
        input,
        steps: DELETION_STEPS,
      });
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

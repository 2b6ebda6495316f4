import { Inject, Injectable } from '@nestjs/common';
import { appendEvents } from '@slipway/platform-durable/events';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reply, type Principal, type Reply } from '@slipway/platform-http';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { DeploymentAnswers } from './deployment-answers.js';

@Injectable()
export class DrainsService {
  constructor(
    private readonly mutations: Mutations,
    private readonly answers: DeploymentAnswers,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** Ends all drains of a deployment. Without a drain it only writes to the audit log. */
  end(principal: Principal, name: string): Promise<Reply> {
    const { tenantId, actor } = principal;
    return this.mutations.run({ principal, isDryRun: false }, async (tx) => {
      const { id } = await this.deployments.lock(tx, tenantId, name);
      const record = await this.deployments.record(tx, tenantId, name);
      const { draining } = await this.answers.one(tx, record);
      const revisions = await this.instances.endDrains(tx, tenantId, id);
      const ended = { revisions, requests: draining?.requests ?? 0 };
      await appendAudit(tx, {
        action: 'deployment.end_drain',
        resourceType: 'deployment',
        resourceName: name,
        before: { draining },
        after: ended,
      });
      if (revisions.length > 0)
        await appendEvents(tx, tenantId, deploymentStream(id), [
          {
            type: 'deployment.drain_ended',
            subject: `deployments/${name}`,
            actor,
            data: { deployment_id: id, name, ...ended },
          },
        ]);
      const answer = await this.answers.one(tx, record);
      return reply(200, answer, { etag: answer.etag });
    });
  }
}

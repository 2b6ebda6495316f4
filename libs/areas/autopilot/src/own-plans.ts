import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { deploymentStream, type Deployment } from '@slipway/ports/deployment-records';
import { PLANS, type PlansPort } from '@slipway/ports/plans';
import type { ProposalHistory } from './rounds/evaluation.js';
import { AUTOPILOT_ACTOR } from './rounds/findings.js';

/** What the autopilot itself has proposed. The caller holds the deployment's lock. */
@Injectable()
export class OwnPlans {
  constructor(@Inject(PLANS) private readonly plans: PlansPort) {}

  /** Takes back proposals that nobody has decided about and whose base is no longer active. Those of people are theirs to reject. */
  async supersedeStale(tx: Tx, deployment: Deployment): Promise<void> {
    const events: NewEvent[] = [];
    for (const plan of await this.plans.open(tx, deployment.id)) {
      const { baseRevisionId, creator } = plan;
      if (creator.actor.type !== AUTOPILOT_ACTOR.type || baseRevisionId === deployment.activeRevisionId) continue;
      const event = await this.plans.supersede(tx, plan, AUTOPILOT_ACTOR);
      if (event) events.push(event);
    }
    await appendEvents(tx, deployment.tenantId, deploymentStream(deployment.id), events);
  }

  async history(tx: Tx, deployment: Deployment, days: number): Promise<ProposalHistory> {
    const open = await this.plans.open(tx, deployment.id);
    const { inPeriod, lastAt, gpuHours } = await this.plans.countProposals(tx, deployment.id, days);
    return {
      hasOpenPlan: open.some((plan) => plan.baseRevisionId === deployment.activeRevisionId),
      lastProposedAt: lastAt,
      proposedInPeriod: inPeriod,
      gpuHoursInPeriod: gpuHours,
    };
  }
}

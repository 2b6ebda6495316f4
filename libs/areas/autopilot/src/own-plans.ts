import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-operations';
import { deploymentStream, type Deployment } from '@slipway/ports';
import type { History } from './evaluation.js';
import { AUTOPILOT_ACTOR } from './findings.js';
import { endedEvent } from './plan-expiry.js';
import { PlanStore } from './plan.store.js';

/** What the autopilot itself has proposed. The caller holds the deployment's lock. */
@Injectable()
export class OwnPlans {
  constructor(private readonly store: PlanStore) {}

  /** Takes back proposals that nobody has decided about and whose base is no longer active. Those of people are theirs to reject. */
  async supersedeStale(tx: Tx, deployment: Deployment): Promise<void> {
    const events: NewEvent[] = [];
    for (const { id, baseRevisionId, createdBy } of await this.store.open(tx, deployment.id)) {
      if (createdBy.type !== AUTOPILOT_ACTOR.type || baseRevisionId === deployment.activeRevisionId) continue;
      const plan = await this.store.lock(tx, deployment.tenantId, id);
      if (plan.state !== 'pending') continue;
      await this.store.decide(tx, plan, 'superseded', AUTOPILOT_ACTOR);
      events.push(endedEvent('plan.superseded', plan, AUTOPILOT_ACTOR));
    }
    await appendEvents(tx, deployment.tenantId, deploymentStream(deployment.id), events);
  }

  async history(tx: Tx, deployment: Deployment, days: number): Promise<History> {
    const open = await this.store.open(tx, deployment.id);
    const { inPeriod, lastAt, gpuHours } = await this.store.proposed(tx, deployment.id, days);
    return {
      hasOpenPlan: open.some((plan) => plan.baseRevisionId === deployment.activeRevisionId),
      lastProposedAt: lastAt,
      proposedInPeriod: inPeriod,
      gpuHoursInPeriod: gpuHours,
    };
  }
}

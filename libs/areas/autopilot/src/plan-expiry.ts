import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { appendEvents, Sweeper, type DueWork, type NewEvent } from '@slipway/platform-operations';
import { deploymentStream } from '@slipway/ports';
import { OVERDUE } from './plan.query.js';
import { PlanStore, type Actor, type Plan } from './plan.store.js';

const CLOCK: Actor = { type: 'system', id: 'clock' };

/** Records that plans have expired, and tells it. They are expired without it: every reader compares with the clock. */
@Injectable()
export class PlanExpiry implements DueWork, OnModuleInit {
  readonly name = 'plan-expiry';

  constructor(
    private readonly sweeper: Sweeper,
    private readonly store: PlanStore,
  ) {}

  onModuleInit(): void {
    this.sweeper.register(this);
  }

  async sweep(tx: Tx): Promise<void> {
    const expired: Plan[] = [];
    for (const { tenantId, id } of await tx.query<{ tenantId: string; id: string }>(OVERDUE)) {
      const plan = await this.store.find(tx, tenantId, id);
      // Decided between the look at it and its lock.
      if (plan.state !== 'expired' || plan.decisions.some(({ decision }) => decision === 'expired')) continue;
      await this.store.decide(tx, plan, 'expired', CLOCK);
      expired.push(plan);
    }
    // Streams are locked last, and in one order, so that two workers cannot wait for each other.
    expired.sort((a, b) => (a.deploymentId < b.deploymentId ? -1 : 1));
    for (const plan of expired)
      await appendEvents(tx, plan.tenantId, deploymentStream(plan.deploymentId), [
        endedEvent('plan.expired', plan, CLOCK),
      ]);
  }
}

export function endedEvent(type: 'plan.expired' | 'plan.superseded', plan: Plan, actor: Actor): NewEvent {
  return {
    type,
    subject: `plans/${plan.id}`,
    actor,
    revisionId: plan.baseRevisionId,
    data: { plan_id: plan.id, content_digest: plan.contentDigest },
  };
}

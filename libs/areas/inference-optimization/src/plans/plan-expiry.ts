import { systemActor } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { appendAll } from '@slipway/platform-durable/events';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { deploymentStream } from '@slipway/ports/deployment-records';
import type { Plan } from '@slipway/ports/plans';
import { OVERDUE_PLANS } from './plan.query.js';
import { endedEvent, PlanStore } from './plan.store.js';

const CLOCK = systemActor('clock');

/** Records that plans have expired, and tells it. They are expired without it: every reader compares with the clock. */
@Injectable()
export class PlanExpiry {
  constructor(private readonly store: PlanStore) {}

  @Recurring({ name: 'plan-expiry', everySeconds: 1 })
  run(transact: Transact): Promise<void> {
    return transact('system', (tx) => this.expire(tx));
  }

  private async expire(tx: Tx): Promise<void> {
    const expired = new Map<string, Plan[]>();
    for (const { tenantId, id } of await tx.query<{ tenantId: string; id: string }>(OVERDUE_PLANS)) {
      const plan = await this.store.find(tx, tenantId, id);
      // Decided between the look at it and its lock.
      if (plan.state !== 'expired' || plan.decisions.some(({ decision }) => decision === 'expired')) continue;
      await this.store.decide(tx, plan, { decision: 'expired', by: { ...CLOCK, owner: null } });
      expired.set(plan.deploymentId, [...(expired.get(plan.deploymentId) ?? []), plan]);
    }
    await appendAll(
      tx,
      [...expired].map(([deploymentId, plans]) => ({
        tenantId: (plans[0] as Plan).tenantId,
        stream: deploymentStream(deploymentId),
        events: plans.map((plan) => endedEvent('plan.expired', plan, CLOCK)),
      })),
    );
  }
}

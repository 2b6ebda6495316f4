import { isSameOwner } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { pageOf, reply, type PageOf, type PageRequest, type Principal, type Reply } from '@slipway/platform-http';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import type { Plan, PlanDto } from '@slipway/ports/plans';
import { planAnswer, PlanStore } from './plan.store.js';
import type { PlanFilterDto } from './plan-requests.dto.js';

@Injectable()
export class PlansService {
  constructor(
    private readonly database: Database,
    private readonly store: PlanStore,
    private readonly reads: ReadAudit,
  ) {}

  get(who: Principal, id: string): Promise<Reply> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const plan = await this.store.find(tx, who.tenantId, id);
      const answer = planAnswer(plan, await this.store.isStale(tx, plan));
      this.noteRead(who, 'plan.read', plan.id, [plan]);
      return reply(200, answer, { etag: answer.etag });
    });
  }

  /** Newest first. */
  list(who: Principal, filter: PlanFilterDto, { cursor, ...page }: PageRequest): Promise<PageOf<PlanDto>> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const past = cursor?.[0] as string | undefined;
      const { rows: plans, hasMore } = await this.store.list(tx, who.tenantId, { ...filter, ...page, past });
      const stale = await this.store.staleAmong(tx, plans);
      this.noteRead(who, 'plan.list', filter.deployment ?? '*', plans);
      return pageOf({ rows: plans.map((plan) => planAnswer(plan, stale.has(plan))), hasMore }, ({ id }) => [id]);
    });
  }

  /** The audit shows who reads the plans of others. */
  private noteRead({ tenantId, owner }: Principal, action: string, resourceName: string, plans: readonly Plan[]): void {
    if (plans.every(({ creator }) => creator.owner && isSameOwner(creator.owner, owner))) return;
    this.reads.record({ tenantId, action, resourceType: 'plan', resourceName });
  }
}

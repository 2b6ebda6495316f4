import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import {
  isUnchanged,
  pageOf,
  reply,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import type { PlanDto } from '@slipway/ports/plans';
import { planAnswer } from './plan-answer.js';
import type { PlanFilterDto } from './plan-requests.dto.js';
import { PlanStore } from './plan.store.js';

@Injectable()
export class PlansService {
  constructor(
    private readonly database: Database,
    private readonly store: PlanStore,
  ) {}

  get(who: Principal, id: string, ifNoneMatch: string | undefined): Promise<Reply> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const plan = await this.store.find(tx, who.tenantId, id);
      const answer = planAnswer(plan, await this.store.isStale(tx, plan));
      if (isUnchanged(ifNoneMatch, answer.etag)) return reply(304, undefined, { etag: answer.etag });
      return reply(200, answer, { etag: answer.etag });
    });
  }

  /** Newest first. */
  list(who: Principal, filter: PlanFilterDto, { limit, cursor }: PageRequest): Promise<PageOf<PlanDto>> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const before = cursor?.[0] as string | undefined;
      const rows = await this.store.list(tx, who.tenantId, { ...filter, before, limit: limit + 1 });
      const { data, next_cursor } = pageOf(rows, limit, (plan) => [plan.id]);
      const stale = await this.store.staleAmong(tx, data);
      return { data: data.map((plan) => planAnswer(plan, stale.has(plan))), next_cursor };
    });
  }
}

import { isSameOwner, systemActor } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { reply, type ExistenceCheck, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { appendEvents, appendAll } from '@slipway/platform-durable/events';
import { PausePoints } from '@slipway/platform-config';
import type { Plan } from '@slipway/ports/plans';
import { deploymentStream } from '@slipway/ports/deployment-records';
import { assertMayApprovePlan } from './approval-rules.js';
import { planAnswer, PlanStore, endedEvent } from './plan.store.js';
import type { ApprovePlanDto, RejectPlanDto } from './plan-requests.dto.js';
import { planErrors } from './plan.errors.js';
import { inBatches, Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { OVERDUE_PLANS, DELETE_PLANS } from './plan.query.js';

/** The decisions of people about plans. A decision is only recorded; it starts nothing. */
@Injectable()
export class DecisionsService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly store: PlanStore,
    private readonly mutations: Mutations,
    private readonly pausePoints: PausePoints,
  ) {}

  /**
   * Records one person's approval: the decision, its event and its audit row, and nothing else. The plan counts as
   * approved once as many distinct people have approved as the cited policy requires. A person who approves twice
   * counts once.
   */
  async approve(who: Principal, id: string, body: ApprovePlanDto): Promise<Reply> {
    const answer = await this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const plan = await this.store.lock(tx, who.tenantId, id);
      assertMayApprovePlan(who, plan);
      assertUndecided(plan);
      assertDigest(plan, body.plan_digest);
      if (await this.store.isStale(tx, plan)) throw planErrors.plan_stale();
      const hasApproved = plan.decisions.some(({ by }) => by.owner && isSameOwner(by.owner, who.owner));
      return this.answer(tx, hasApproved ? plan : await this.record(tx, plan, 'approved', who, body.comment));
    });
    await this.pausePoints.reach('autopilot:approve:after-commit');
    return answer;
  }

  /**
   * Everyone who may decide may reject, including the creator and services: that withdraws a plan. It starts nothing,
   * and an optimizer must be able to withdraw its own proposal.
   */
  reject(who: Principal, id: string, body: RejectPlanDto): Promise<Reply> {
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const plan = await this.store.lock(tx, who.tenantId, id);
      assertUndecided(plan);
      assertDigest(plan, body.plan_digest);
      return this.answer(tx, await this.record(tx, plan, 'rejected', who, body.comment));
    });
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.database.tx({ tenantId }, (tx) => this.store.find(tx, tenantId, params['id'] as string));
  }

  private async record(
    tx: Tx,
    plan: Plan,
    decision: 'approved' | 'rejected',
    { actor, owner }: Principal,
    comment: string | undefined,
  ): Promise<Plan> {
    const decided = await this.store.decide(tx, plan, { decision, by: { ...actor, owner }, comment });
    const resource = { resourceType: 'plan', resourceName: plan.id, before: plan.decisions, after: decided.decisions };
    await appendAudit(tx, { action: decision === 'approved' ? 'plan.approve' : 'plan.reject', ...resource });
    await appendEvents(tx, plan.tenantId, deploymentStream(plan.deploymentId), [
      {
        type: `plan.${decision}`,
        subject: `plans/${plan.id}`,
        actor,
        revisionId: plan.baseRevisionId,
        data: {
          plan_id: plan.id,
          content_digest: plan.contentDigest,
          state: decided.state,
          comment: comment ?? null,
          approvals: decided.decisions.filter((one) => one.decision === 'approved').length,
          approvals_required: plan.approvalsRequired,
        },
      },
    ]);
    return decided;
  }

  private async answer(tx: Tx, plan: Plan): Promise<Reply> {
    const answer = planAnswer(plan, await this.store.isStale(tx, plan));
    return reply(200, answer, { etag: answer.etag });
  }
}

function assertUndecided(plan: Plan): void {
  if (plan.state === 'expired') throw planErrors.plan_expired();
  if (plan.state === 'superseded') throw planErrors.plan_stale();
  if (plan.state !== 'pending') throw planErrors.plan_already_decided({ message: `Plan ${plan.id} is ${plan.state}.` });
}

function assertDigest(plan: Plan, digest: string | undefined): void {
  if (digest === undefined || digest === plan.contentDigest) return;
  throw planErrors.plan_digest_mismatch({ message: `The content digest of plan ${plan.id} is ${plan.contentDigest}.` });
}

const CLOCK = systemActor('clock');
/** For how many days a plan is kept after it expired. */
const PLAN_RETENTION_DAYS = 365;

/**
 * Records that plans have expired, emits the events, and deletes plans much later. Plans expire without it: every reader compares with the clock.
 */
@Injectable()
export class PlanExpiry {
  constructor(private readonly store: PlanStore) {}

  /** Operations that executed a plan are deleted long before it. */
  @Recurring({ name: 'plan-retention', everySeconds: 60 })
  remove(transact: Transact, stopping?: AbortSignal): Promise<void> {
    return inBatches(async (rows) => {
      const gone = await transact('system', (tx) =>
        tx.one<{ count: number }>(DELETE_PLANS, [PLAN_RETENTION_DAYS, rows]),
      );
      return gone?.count === rows;
    }, stopping);
  }

  @Recurring({ name: 'plan-expiry', everySeconds: 1 })
  run(transact: Transact): Promise<void> {
    return transact('system', (tx) => this.expire(tx));
  }

  private async expire(tx: Tx): Promise<void> {
    const expired = new Map<string, Plan[]>();
    for (const { tenantId, id } of await tx.query<{ tenantId: string; id: string }>(OVERDUE_PLANS)) {
      const plan = await this.store.find(tx, tenantId, id);
      // The plan was decided between the read and its lock.
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

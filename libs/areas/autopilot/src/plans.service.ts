import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import {
  encodeCursor,
  errors,
  isUnchanged,
  reply,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import {
  DEPLOYMENTS,
  POLICIES,
  REVISIONS,
  type Deployment,
  type DeploymentsPort,
  type PoliciesPort,
  type Revision,
  type RevisionsPort,
} from '@slipway/ports';
import { planAnswer } from './plan-answer.js';
import { PlanAuthor } from './plan-author.js';
import type { CreatePlanDto, PlanDto, PlanFilterDto } from './plan.dto.js';
import { planErrors } from './plan.errors.js';
import { PlanStore } from './plan.store.js';

@Injectable()
export class PlansService {
  constructor(
    private readonly database: Database,
    private readonly store: PlanStore,
    private readonly author: PlanAuthor,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  create(who: Principal, body: CreatePlanDto): Promise<Reply<PlanDto>> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const deployment = await this.deployments.lock(tx, who.tenantId, body.deployment);
      const base = await this.baseOf(tx, deployment, body);
      const policy = await this.policies.current(tx, deployment.id);
      const { summary, changes, rollout, evidence, risk, predicted_impact: predictedImpact = null } = body;
      const plan = await this.author.write(
        tx,
        { deployment, base, policy },
        { summary, changes, rollout, evidence, risk, predictedImpact },
        who.actor,
      );
      const answer = planAnswer(plan, false);
      return reply(201, answer, { etag: answer.etag, location: `/api/v1/autopilot/plans/${plan.id}` });
    });
  }

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
      const rows = await this.store.list(tx, who.tenantId, {
        ...filter,
        before: cursor?.[0] as string | undefined,
        limit: limit + 1,
      });
      const shown = rows.slice(0, limit);
      const stale = await this.store.staleAmong(tx, shown);
      return {
        data: shown.map((plan) => planAnswer(plan, stale.has(plan))),
        next_cursor: rows.length > limit ? encodeCursor([shown[shown.length - 1]!.id]) : null,
      };
    });
  }

  /** A plan says what to change of what serves now: on any other base it would be stale from its birth. */
  private async baseOf(tx: Tx, deployment: Deployment, body: CreatePlanDto): Promise<Revision> {
    const { activeRevisionId } = deployment;
    const named =
      body.base_revision === undefined ? undefined : await this.revisions.find(tx, deployment.id, body.base_revision);
    if (activeRevisionId === null) {
      const message = `deployment ${deployment.name} has no active revision yet`;
      throw errors.validation_failed({ message, details: [{ field: 'base_revision', code: 'no_base', message }] });
    }
    const [active] = await this.revisions.getMany(tx, [activeRevisionId]);
    const isStale =
      (named !== undefined && named.id !== activeRevisionId) ||
      (body.base_spec_digest !== undefined && body.base_spec_digest !== active?.specDigest);
    if (isStale)
      throw planErrors.plan_stale({
        message: `The active revision of ${deployment.name} is ${active?.name}, with the spec digest ${active?.specDigest}.`,
      });
    return active as Revision;
  }
}

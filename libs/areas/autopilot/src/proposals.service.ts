import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { errors, reply, type Principal, type Reply } from '@slipway/platform-http';
import { Mutations } from '@slipway/platform-durable/mutations';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { POLICIES, type PoliciesPort } from '@slipway/ports/policies';
import { PLANS, type PlanDto, type PlansPort } from '@slipway/ports/plans';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import type { CreatePlanDto } from './create-plan.dto.js';
import { PlanAuthor } from './plans/plan-author.js';

/** Plans that people and outside optimizers propose. */
@Injectable()
export class ProposalsService {
  constructor(
    private readonly mutations: Mutations,
    private readonly author: PlanAuthor,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
    @Inject(PLANS) private readonly plans: PlansPort,
  ) {}

  create(who: Principal, body: CreatePlanDto): Promise<Reply<PlanDto>> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const deployment = await this.deployments.lock(tx, who.tenantId, body.deployment);
      const base = await this.baseOf(tx, deployment, body);
      const policy = await this.policies.current(tx, deployment.id);
      const { summary, changes, rollout, evidence, risk, predicted_impact: predictedImpact = null } = body;
      const own = { kind: 'manual' as const, assumes: null };
      const draft = { ...own, summary, changes, rollout, evidence, risk, predictedImpact };
      const plan = await this.author.write(tx, { deployment, base, policy }, draft, who);
      const answer = this.plans.answer(plan, false);
      return reply(201, answer, { etag: answer.etag, location: `/api/v1/autopilot/plans/${plan.id}` });
    });
  }

  /** A plan changes the active revision: on any other base it would be stale from the start. */
  private async baseOf(tx: Tx, deployment: Deployment, body: CreatePlanDto): Promise<Revision> {
    const { activeRevisionId } = deployment;
    const named =
      body.base_revision === undefined ? undefined : await this.revisions.find(tx, deployment.id, body.base_revision);
    if (activeRevisionId === null) {
      const message = `Deployment ${deployment.name} has no active revision yet. Create a rollout first.`;
      throw errors.validation_failed({ message, details: [{ field: 'base_revision', code: 'no_base', message }] });
    }
    const active = await this.revisions.get(tx, activeRevisionId);
    const isStale =
      (named !== undefined && named.id !== activeRevisionId) ||
      (body.base_spec_digest !== undefined && body.base_spec_digest !== active.specDigest);
    if (isStale)
      throw this.plans.stale(
        `The active revision of ${deployment.name} is ${active.name}, with the spec digest ${active.specDigest}.`,
      );
    return active;
  }
}

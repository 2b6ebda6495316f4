import type { Actor } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { digestOf, rowPage, type RowPage, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { SlipwayError } from '@slipway/platform-http';
import { ownerOf } from '@slipway/platform-http/auth';
import { appendAudit } from '@slipway/platform-durable/mutations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { POLICIES, type PoliciesPort } from '@slipway/ports/policies';
import type {
  Approver,
  PlanDecision,
  ExecutablePlan,
  NewPlan,
  OpenPlan,
  Plan,
  PlanDto,
  PlanExecution,
  PlansPort,
  PlanState,
  ProposalCounts,
  StartedOperation,
} from '@slipway/ports/plans';
import { assertMayApproveStep } from './approval-rules.js';
import { PlanDecisionEntity, PlanEntity } from './plan.entity.js';
import { planErrors } from './plan.errors.js';
import { FIND_PLAN, LIST_PLANS, LOCK_PLAN, OPEN_PLANS, COUNT_PROPOSALS } from './plan.query.js';

export interface PlanFilter {
  deployment?: string;
  state?: PlanState;
  /** Only plans that come after this one. */
  past?: string;
  /** Newest first by default. */
  order?: 'asc' | 'desc';
  /** RFC 3339. */
  since?: string;
  until?: string;
  limit: number;
}

/** The rows of plans and decisions. For other areas: creates a plan, and checks whether it may be executed. */
@Injectable()
export class PlanStore implements PlansPort {
  constructor(
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  async create(tx: Tx, plan: NewPlan): Promise<Plan> {
    const { content } = plan;
    await tx.repository(PlanEntity).insert({
      id: content.id,
      tenantId: plan.tenantId,
      deploymentId: plan.deploymentId,
      deploymentName: content.deployment,
      baseRevisionId: plan.baseRevisionId,
      specDigest: plan.specDigest,
      // `as object`, because TypeORM's type of a partial row takes no `unknown` within JSON.
      content: content as object,
      contentDigest: digestOf(content),
      approvalsRequired: plan.approvalsRequired,
      preventSelfApproval: plan.preventSelfApproval,
      requireHostedIdentity: plan.requireHostedIdentity,
      ideaKey: plan.ideaKey,
      createdBy: plan.creator.actor,
      creatorOwner: plan.creator.owner,
      creatorMinters: [...plan.creator.minters],
      createdAt: content.created_at,
      expiresAt: content.expires_at,
    });
    const created = await this.find(tx, plan.tenantId, content.id);
    const { actor } = plan.creator;
    await appendAudit(tx, {
      action: 'plan.create',
      resourceType: 'plan',
      resourceName: content.id,
      after: content,
      actor,
    });
    await appendEvents(tx, plan.tenantId, deploymentStream(plan.deploymentId), [createdEvent(created)]);
    return created;
  }

  async find(tx: Tx, tenantId: string, id: string): Promise<Plan> {
    const plan = await tx.one<Plan>(FIND_PLAN, [tenantId, id]);
    if (!plan) throw planErrors.plan_not_found();
    return plan;
  }

  /** Keeps other transactions from deciding about the plan until this one ends. */
  async lock(tx: Tx, tenantId: string, id: string): Promise<Plan> {
    await tx.query(LOCK_PLAN, [tenantId, id]);
    return this.find(tx, tenantId, id);
  }

  async list(tx: Tx, tenantId: string, filter: PlanFilter): Promise<RowPage<Plan>> {
    const { deployment = null, state = null, past = null, limit, order = 'desc', since = null, until = null } = filter;
    const values = [tenantId, deployment, state, past, limit, since, until];
    return rowPage(await tx.query<Plan>(LIST_PLANS[order], values));
  }

  /** The caller holds the plan's lock and knows that it is undecided. */
  async decide(
    tx: Tx,
    plan: Plan,
    { decision, by, comment = null }: Pick<PlanDecision, 'decision' | 'by'> & { comment?: string | null },
  ): Promise<Plan> {
    const { tenantId, id: planId, contentDigest: digest } = plan;
    const { owner, ...actor } = by;
    await tx.repository(PlanDecisionEntity).insert({ tenantId, planId, decision, actor, owner, comment, digest });
    return this.find(tx, tenantId, planId);
  }

  open(tx: Tx, deploymentId: string): Promise<OpenPlan[]> {
    return tx.query<OpenPlan>(OPEN_PLANS, [deploymentId]);
  }

  async supersede(tx: Tx, { tenantId, id }: OpenPlan, by: Actor): Promise<NewEvent | undefined> {
    const plan = await this.lock(tx, tenantId, id);
    if (plan.state !== 'pending') return undefined;
    await this.decide(tx, plan, { decision: 'superseded', by: { ...by, owner: null } });
    return endedEvent('plan.superseded', plan, by);
  }

  async countProposals(tx: Tx, deploymentId: string, days: number): Promise<ProposalCounts> {
    return (await tx.one<ProposalCounts>(COUNT_PROPOSALS, [deploymentId, days])) as ProposalCounts;
  }

  answer(plan: Plan, isStale: boolean): PlanDto {
    return planAnswer(plan, isStale);
  }

  stale(message: string): Error {
    return planErrors.plan_stale({ message });
  }

  async isStale(tx: Tx, plan: Plan): Promise<boolean> {
    return (await this.staleAmong(tx, [plan])).has(plan);
  }

  /**
   * Returns the plans whose base is not the active revision, or whose deployment is gone. Reads each deployment once.
   */
  async staleAmong(tx: Tx, plans: readonly Plan[]): Promise<Set<Plan>> {
    const stale = new Set(plans);
    for (const name of new Set(plans.map((plan) => plan.deploymentName))) {
      const ofName = plans.filter((plan) => plan.deploymentName === name);
      const deployment = await this.deploymentOf(tx, ofName[0] as Plan);
      for (const plan of ofName)
        if (plan.deploymentId === deployment?.id && plan.baseRevisionId === deployment.activeRevisionId)
          stale.delete(plan);
    }
    return stale;
  }

  async rolloutOf(
    tx: Tx,
    plan: Pick<PlanExecution, 'tenantId' | 'planId' | 'deploymentId'>,
  ): Promise<Record<string, unknown>> {
    return (await this.planFor(tx, plan)).content.rollout;
  }

  async assertExecutable(tx: Tx, execution: PlanExecution): Promise<ExecutablePlan> {
    const plan = await this.planFor(tx, execution);
    if (plan.state === 'superseded') throw planErrors.plan_stale();
    if (plan.state === 'expired') throw planErrors.plan_expired();
    if (plan.state !== 'approved')
      throw planErrors.plan_not_approved({ message: `Plan ${plan.id} is ${plan.state}, not approved.` });
    if (plan.isPastExpiry) throw planErrors.plan_expired();
    if (execution.activeRevisionId !== plan.baseRevisionId) throw planErrors.plan_stale();
    if (!isUnchanged(plan, execution)) {
      throw planErrors.plan_digest_mismatch({
        message: `This rollout differs from the approved rollout of plan ${plan.id}.`,
        remediation: 'Send the unchanged rollout of the plan, or only its plan_id.',
      });
    }
    return { id: plan.id, contentDigest: plan.contentDigest, policyVersion: plan.content.policy_version };
  }

  async assertMayApprove(
    tx: Tx,
    { tenantId, deploymentId, startedBy }: StartedOperation,
    who: Approver,
  ): Promise<void> {
    const promotion = (await this.policies.current(tx, deploymentId))?.content.promotion;
    const creator = (await ownerOf(tx, tenantId, startedBy)) ?? { owner: null, minters: [] };
    assertMayApproveStep(who, creator, {
      preventSelfApproval: promotion?.prevent_self_approval ?? true,
      requireHostedIdentity: promotion?.require_hosted_identity ?? false,
    });
  }

  private async deploymentOf(tx: Tx, { tenantId, deploymentName }: Plan): Promise<Deployment | undefined> {
    try {
      return await this.deployments.get(tx, tenantId, deploymentName);
    } catch (missing) {
      if (missing instanceof SlipwayError && missing.status === 404) return undefined;
      throw missing;
    }
  }

  private async planFor(
    tx: Tx,
    { tenantId, planId, deploymentId }: Pick<PlanExecution, 'tenantId' | 'planId' | 'deploymentId'>,
  ): Promise<Plan> {
    const plan = await this.find(tx, tenantId, planId);
    if (plan.deploymentId !== deploymentId) throw planErrors.plan_not_found();
    return plan;
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

function createdEvent({ id, content, contentDigest, creator, baseRevisionId }: Plan): NewEvent {
  return {
    type: 'plan.created',
    subject: `plans/${id}`,
    actor: creator.actor,
    revisionId: baseRevisionId,
    data: {
      plan_id: id,
      base_revision: content.base_revision,
      summary: content.summary,
      changes: content.changes.map(({ op, path, value }) => ({ op, path, value })),
      risk: content.risk.level,
      content_digest: contentDigest,
      policy_version: content.policy_version,
      expires_at: content.expires_at,
    },
  };
}

/** The content is hashed again: approvals are bound to a digest, so a row that was tampered with executes nothing. */
function isUnchanged(plan: Plan, execution: PlanExecution): boolean {
  const { strategy = null, analysis = null } = plan.content.rollout;
  return (
    digestOf(plan.content) === plan.contentDigest &&
    plan.decisions.every((decision) => decision.digest === plan.contentDigest) &&
    execution.specDigest === plan.specDigest &&
    digestOf(plain(execution.strategy)) === digestOf(strategy) &&
    digestOf(plain(execution.analysis)) === digestOf(analysis)
  );
}

function plain(value: object | undefined): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/**
 * Returns a plan as answers show it: the frozen part, the decisions, and what follows from the clock and the
 * deployment.
 */
export function planAnswer(plan: Plan, isStale: boolean): PlanDto {
  const approvals = plan.decisions.filter(({ decision }) => decision === 'approved');
  const ended = plan.decisions.find(({ decision }) => decision !== 'approved');
  return {
    ...plan.content,
    content_digest: plan.contentDigest,
    approval: {
      state: plan.state,
      approvals_required: plan.approvalsRequired,
      approvals: approvals.map(shown),
      ended: ended ? shown(ended) : null,
      version: plan.version,
    },
    stale: isStale,
    outcomes: plan.outcomes,
    assumptions_hold: plan.assumptionsHold,
    etag: planEtag(plan, isStale),
  };
}

/**
 * Combines the digest and the approval version. It also marks changes by time alone: a client that polls with
 * If-None-Match would otherwise never learn that the plan expired or became stale. Outcomes are only added.
 */
export function planEtag(
  {
    contentDigest,
    version,
    isPastExpiry,
    outcomes,
  }: Pick<Plan, 'contentDigest' | 'version' | 'isPastExpiry' | 'outcomes'>,
  isStale: boolean,
): string {
  const achieved = outcomes.length > 0 ? `.outcomes-${outcomes.length}` : '';
  return `"${contentDigest}.${version}${isPastExpiry ? '.expired' : ''}${isStale ? '.stale' : ''}${achieved}"`;
}

function shown({ by, at, comment, digest }: PlanDecision) {
  return { by: { ...by, name: by.name ?? null }, at, comment, digest };
}

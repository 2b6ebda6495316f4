import { Inject, Injectable } from '@nestjs/common';
import { digestOf, type Tx } from '@slipway/platform-database';
import { SlipwayError } from '@slipway/platform-http';
import {
  DEPLOYMENTS,
  type Deployment,
  type DeploymentsPort,
  type ExecutablePlan,
  type PlanExecution,
  type PlansPort,
} from '@slipway/ports';
import type { PlanDto, PlanState } from './plan.dto.js';
import { planErrors } from './plan.errors.js';
import { DECIDE, FIND, INSERT, LIST, LOCK, OPEN, PROPOSED } from './plan.query.js';

export interface Actor {
  type: string;
  id: string;
}

/** Everything that never changes and that the digest covers, as answers show it. */
export type PlanContent = Omit<PlanDto, 'content_digest' | 'approval' | 'stale' | 'etag'>;

export interface Decision {
  decision: Exclude<PlanState, 'pending'>;
  by: Actor;
  at: string;
  comment: string | null;
  digest: string;
}

export interface NewPlan {
  tenantId: string;
  deploymentId: string;
  baseRevisionId: string;
  specDigest: string;
  content: PlanContent;
  approvalsRequired: number;
  preventSelfApproval: boolean;
}

export interface Plan extends NewPlan {
  id: string;
  deploymentName: string;
  contentDigest: string;
  createdBy: Actor;
  state: PlanState;
  isPastExpiry: boolean;
  /** Rises with every decision. */
  version: number;
  decisions: Decision[];
}

export interface PlanFilter {
  deployment?: string;
  state?: PlanState;
  /** Only plans older than this one. */
  before?: string;
  limit: number;
}

/** The rows of plans and decisions; for other areas, whether a plan may be executed. */
@Injectable()
export class PlanStore implements PlansPort {
  constructor(@Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort) {}

  async insert(tx: Tx, plan: NewPlan): Promise<Plan> {
    const { content } = plan;
    await tx.query(INSERT, [
      content.id,
      plan.tenantId,
      plan.deploymentId,
      content.deployment,
      plan.baseRevisionId,
      plan.specDigest,
      JSON.stringify(content),
      digestOf(content),
      plan.approvalsRequired,
      plan.preventSelfApproval,
      JSON.stringify(content.created_by),
      content.created_at,
      content.expires_at,
    ]);
    return this.find(tx, plan.tenantId, content.id);
  }

  async find(tx: Tx, tenantId: string, id: string): Promise<Plan> {
    const plan = await tx.one<Plan>(FIND, [tenantId, id]);
    if (!plan) throw planErrors.plan_not_found();
    return plan;
  }

  /** Keeps others from deciding about the plan until the transaction ends. */
  async lock(tx: Tx, tenantId: string, id: string): Promise<Plan> {
    await tx.query(LOCK, [tenantId, id]);
    return this.find(tx, tenantId, id);
  }

  list(tx: Tx, tenantId: string, filter: PlanFilter): Promise<Plan[]> {
    return tx.query<Plan>(LIST, [
      tenantId,
      filter.deployment ?? null,
      filter.state ?? null,
      filter.before ?? null,
      filter.limit,
    ]);
  }

  /** The caller holds the plan's lock and knows that it is undecided. */
  async decide(
    tx: Tx,
    plan: Plan,
    decision: Decision['decision'],
    by: Actor,
    comment: string | null = null,
  ): Promise<Plan> {
    await tx.query(DECIDE, [plan.tenantId, plan.id, decision, JSON.stringify(by), comment, plan.contentDigest]);
    return this.find(tx, plan.tenantId, plan.id);
  }

  open(tx: Tx, deploymentId: string): Promise<Plan[]> {
    return tx.query<Plan>(OPEN, [deploymentId]);
  }

  async proposed(
    tx: Tx,
    deploymentId: string,
    days: number,
  ): Promise<{ inPeriod: number; lastAt: Date | null; gpuHours: number }> {
    return (await tx.one<{ inPeriod: number; lastAt: Date | null; gpuHours: number }>(PROPOSED, [deploymentId, days]))!;
  }

  async isStale(tx: Tx, plan: Plan): Promise<boolean> {
    return (await this.staleAmong(tx, [plan])).has(plan);
  }

  /** Those whose base is not the active revision now, or whose deployment is gone. Each deployment is asked for once. */
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
        message: `This rollout is not the one plan ${plan.id} was approved for.`,
        remediation: 'Send the rollout of the plan, or only its plan_id.',
      });
    }
    return { id: plan.id, contentDigest: plan.contentDigest, policyVersion: plan.content.policy_version };
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

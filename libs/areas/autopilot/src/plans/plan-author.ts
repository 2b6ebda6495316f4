import { Inject, Injectable } from '@nestjs/common';
import { digestOf, newId, type Tx } from '@slipway/platform-database';
import { errors, type FieldIssue } from '@slipway/platform-http';
import type { AnalysisDto, Deployment, StrategyDto } from '@slipway/ports/deployment-records';
import {
  PLANS,
  type NewPlan,
  type Plan,
  type PlanAssumptionsDto,
  type PlanChangeDto,
  type PlanContent,
  type PlanCreator,
  type PlanEvidenceDto,
  type PlanKind,
  type PlansPort,
} from '@slipway/ports/plans';
import { ROLLOUTS, type CheckedRollout, type RolloutPreview, type RolloutsPort } from '@slipway/ports/rollouts';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import type { Policy, PolicyContent } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { ideaKeyOf } from '../learning/idea.js';
import {
  allowedSteps,
  assessRisk,
  forbiddenChanges,
  stepIssues,
  type PlanStrategy,
  type PlanRisk,
} from './plan-boundaries.js';
import { applyChanges, changesBetween, mergePatchBetween, type SpecChange } from './plan-changes.js';

const DEFAULT_TTL_SECONDS = 604_800;

/** A proposal, as its author wrote it. */
export interface PlanDraft {
  kind: PlanKind;
  summary: string;
  changes: PlanChangeDto[];
  rollout?: Record<string, unknown>;
  evidence: PlanEvidenceDto[];
  /** Only the autopilot states what its predictions assume. */
  assumes: PlanAssumptionsDto | null;
  predictedImpact: Record<string, unknown> | null;
  risk: Partial<PlanRisk>;
}

export interface PlanSubject {
  /** Locked by the caller. */
  deployment: Deployment;
  /** The active revision. */
  base: Revision;
  policy: Policy | undefined;
}

/** Makes plans out of drafts: checks, freezes and writes them. People and the autopilot both use it. */
@Injectable()
export class PlanAuthor {
  constructor(
    @Inject(PLANS) private readonly plans: PlansPort,
    @Inject(ROLLOUTS) private readonly rollouts: RolloutsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** @throws validation_failed (422), with each invalid field of the draft */
  async write(tx: Tx, setting: PlanSubject, draft: PlanDraft, creator: PlanCreator): Promise<Plan> {
    const { deployment, base, policy } = setting;
    const { checked, changes, execution } = await this.check(tx, setting, draft);
    const now = await tx.now();
    const id = newId('plan');
    return this.plans.create(tx, {
      tenantId: deployment.tenantId,
      ...frozenPlan(setting, draft, { id, now, checked, changes, execution, creator }),
      ideaKey: ideaKeyOf(changes, base.spec, policy?.content, this.instances.engineVersion(base.spec)),
    });
  }

  private async check(
    tx: Tx,
    { deployment, base, policy }: PlanSubject,
    draft: PlanDraft,
  ): Promise<{ checked: CheckedRollout; changes: Required<SpecChange>[]; execution: RolloutPreview }> {
    const applied = applyChanges(base.spec, draft.changes);
    refuse(applied.issues);
    const body = withDefaults(
      draft.rollout ?? { spec_patch: mergePatchBetween({ ...base.spec }, applied.spec) },
      deployment,
      base,
      policy?.content,
    );
    const checked = await this.rollouts.check(tx, deployment.tenantId, body, base, 'rollout');
    const isTold = draft.changes.length > 0;
    if (draft.rollout && isTold && digestOf(applied.spec) !== checked.specDigest) {
      refuse([{ field: 'rollout', code: 'differs', message: 'rollout and changes lead to different specs' }]);
    }
    const changes = isTold ? applied.changes : changesBetween(base.spec, checked.spec);
    refuse([
      ...forbiddenChanges(policy?.content, base.spec, checked.spec, isTold ? changes.map((change) => change.path) : []),
      ...stepIssues(policy?.content, checked.body['strategy'] as PlanStrategy),
    ]);
    return { checked, changes, execution: this.executionOf(checked, draft, deployment) };
  }

  /** The body has the gate of the deployment already, so only the draft shows whether it has one of its own. */
  private executionOf({ body, spec }: CheckedRollout, { rollout }: PlanDraft, deployment: Deployment): RolloutPreview {
    const { strategy, analysis } = body as { strategy: StrategyDto; analysis?: AnalysisDto };
    const hasOwnGate = (rollout?.['analysis'] ?? null) !== null;
    return this.rollouts.preview({ strategy, analysis: hasOwnGate ? analysis : undefined }, spec, deployment);
  }
}

/** The results of the checks of a draft, and its id and time. */
export interface DraftResult {
  id: string;
  now: Date;
  checked: Pick<CheckedRollout, 'body' | 'specDigest'>;
  changes: Required<SpecChange>[];
  execution: RolloutPreview;
  creator: PlanCreator;
}

/** Returns the plan to store: its content, and the rules for its approval by the policy in force. Pure. */
export function frozenPlan(
  { deployment, base, policy }: PlanSubject,
  draft: PlanDraft,
  { id, now, checked, changes, execution, creator }: DraftResult,
): Omit<NewPlan, 'tenantId' | 'ideaKey'> {
  const content: PlanContent = JSON.parse(
    JSON.stringify({
      id,
      deployment: deployment.name,
      kind: draft.kind,
      policy_version: policy?.version ?? null,
      base_revision: base.name,
      base_spec_digest: base.specDigest,
      summary: draft.summary,
      changes,
      rollout: { ...checked.body, plan_id: id },
      execution,
      evidence: draft.evidence.map(evidenceOf),
      assumes: draft.assumes,
      predicted_impact: draft.predictedImpact,
      risk: assessRisk(draft.risk, policy?.content, checked.body['strategy'] as PlanStrategy, draft.evidence, now),
      created_by: { ...creator.actor, name: creator.actor.name ?? null, owner: creator.owner },
      created_at: now.toISOString(),
      expires_at: new Date(
        now.getTime() + (policy?.content.promotion.plan_ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1_000,
      ).toISOString(),
    }),
  );
  const promotion = policy?.content.promotion;
  return {
    deploymentId: deployment.id,
    baseRevisionId: base.id,
    specDigest: checked.specDigest,
    content,
    approvalsRequired: promotion?.approvals_required ?? 1,
    preventSelfApproval: promotion?.prevent_self_approval ?? true,
    requireHostedIdentity: promotion?.require_hosted_identity ?? false,
    creator,
  };
}

/**
 * The plan that people approve must be exactly what happens, so defaults are resolved now and not at execution.
 * Strategy and analysis are the deployment's if none are given; a canary without steps gets the steps that the policy
 * allows.
 */
function withDefaults(
  rollout: Record<string, unknown>,
  deployment: Deployment,
  base: Revision,
  policy: PolicyContent | undefined,
): Record<string, unknown> {
  const { plan_id: _, ...body } = rollout;
  const given = body['strategy'] ?? deployment.defaultStrategy ?? { type: 'candidate' };
  const { type, steps } = given as PlanStrategy;
  const isBareCanary = (type === 'canary' || type === 'auto') && (steps ?? null) === null;
  // A policy that allows no canary leaves no steps to choose, and the reader refuses an empty list by its name.
  const strategy = isBareCanary && policy ? { ...given, steps: allowedSteps(policy) ?? [] } : given;
  const base_revision = body['base_revision'] ?? (body['spec_patch'] ? base.name : undefined);
  const analysis = body['analysis'] ?? deployment.defaultAnalysis ?? undefined;
  return { ...body, strategy, analysis, ...(base_revision === undefined ? {} : { base_revision }) };
}

function evidenceOf({ kind, metric, ...item }: PlanEvidenceDto): PlanEvidenceDto {
  const {
    tool = null,
    stat = null,
    baseline = null,
    candidate = null,
    delta_percent = null,
    digest = null,
    collected_at = null,
  } = item;
  return {
    kind,
    tool,
    metric,
    stat,
    baseline: sideOf(baseline),
    candidate: sideOf(candidate),
    delta_percent,
    digest,
    collected_at,
  };
}

function sideOf(side: PlanEvidenceDto['baseline']) {
  return side ? { value: side.value ?? null, n: side.n } : null;
}

function refuse(details: FieldIssue[]): void {
  if (details.length > 0) throw errors.validation_failed({ message: details[0]?.message, details });
}

import { Injectable, Inject } from '@nestjs/common';
import { CONFIG, PausePoints, priceOf, type PriceConfig } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { SlipwayError } from '@slipway/platform-http';
import { type Deployment, deploymentStream } from '@slipway/ports/deployment-records';
import { INSTANCES, isExhausted, type CapacityForecast, type InstancesPort } from '@slipway/ports/instances';
import { PLAN_OUTCOMES, type PlanOutcomesPort, PLANS, type PlansPort } from '@slipway/ports/plans';
import type { Policy } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { PlanAuthor, type PlanDraft } from '../plans/plan-author.js';
import { applyChanges } from '../plans/plan-changes.js';
import { OutcomeRecorder, type ExecutedRecords } from '../learning/outcome-recorder.js';
import { draftOf } from './draft.js';
import { evaluate, mayRevert } from './evaluation.js';
import {
  appendDiagnosis,
  appendFinding,
  AUTOPILOT_ACTOR,
  causesKey,
  isWorthReporting,
  keyOf,
  type FindingContext,
  type ReportableFinding,
} from './findings.js';
import type { ReportedFindings, RoundDecision } from './schedule.entity.js';
import { ScheduleStore } from './schedule.store.js';
import {
  periodDays,
  type Evaluation,
  type Finding,
  type Proposal,
  type ProposalHistory,
  type Restraint,
  type ReviewRecords,
  type Situation,
} from './situation.js';

/** The state of a deployment as one round read it. The deployment is locked; `base` is its active revision. */
export interface DeploymentReview {
  deployment: Deployment;
  base: Revision;
  policy: Policy;
  records: ReviewRecords | undefined;
  told: ReportedFindings;
  /** Plans whose outcome is due. */
  executed: readonly ExecutedRecords[];
}

/** The proposals of the autopilot itself. The caller holds the deployment's lock. */
@Injectable()
export class OwnPlans {
  constructor(@Inject(PLANS) private readonly plans: PlansPort) {}

  /** Withdraws undecided proposals whose base is no longer active. Only people may reject the proposals of people. */
  async supersedeStale(tx: Tx, deployment: Deployment): Promise<void> {
    const events: NewEvent[] = [];
    for (const plan of await this.plans.open(tx, deployment.id)) {
      const { baseRevisionId, createdBy } = plan;
      if (createdBy.type !== AUTOPILOT_ACTOR.type || baseRevisionId === deployment.activeRevisionId) continue;
      const event = await this.plans.supersede(tx, plan, AUTOPILOT_ACTOR);
      if (event) events.push(event);
    }
    await appendEvents(tx, deployment.tenantId, deploymentStream(deployment.id), events);
  }

  async history(tx: Tx, deployment: Deployment, days: number): Promise<ProposalHistory> {
    const open = await this.plans.open(tx, deployment.id);
    const { inPeriod, lastAt, gpuHours } = await this.plans.countProposals(tx, deployment.id, days);
    return {
      hasOpenPlan: open.some((plan) => plan.baseRevisionId === deployment.activeRevisionId),
      lastProposedAt: lastAt,
      proposedInPeriod: inPeriod,
      gpuHoursInPeriod: gpuHours,
    };
  }
}

/** Gathers what a review depends on, apart from the records. */
@Injectable()
export class Situations {
  constructor(
    private readonly ownPlans: OwnPlans,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(PLAN_OUTCOMES) private readonly outcomes: PlanOutcomesPort,
    @Inject(CONFIG) private readonly config: PriceConfig,
  ) {}

  async of(
    tx: Tx,
    { deployment, base, policy, records }: Omit<DeploymentReview, 'told' | 'executed'>,
  ): Promise<Situation> {
    const devices = this.instances.devices(base.spec);
    return {
      now: await tx.now(),
      deploymentName: deployment.name,
      policy: policy.content,
      spec: base.spec,
      override: deployment.scaling,
      records,
      isChanging: deployment.currentOperationId !== null || deployment.state === 'deleting',
      history: await this.ownPlans.history(tx, deployment, periodDays(policy.content)),
      devices,
      engineVersion: this.instances.engineVersion(base.spec),
      price: priceOf(this.config, devices.accelerator),
      calibration: await this.outcomes.scores(tx, deployment.tenantId),
      failedIdeas: await this.outcomes.failedIdeas(tx, deployment.id, policy.content.evidence.max_age_seconds),
    };
  }
}

/** Acts on a finding: it writes a plan, reports in an event, or does nothing. It always stores what it decided. */
@Injectable()
export class Advisor {
  constructor(
    private readonly ownPlans: OwnPlans,
    private readonly situations: Situations,
    private readonly author: PlanAuthor,
    private readonly recorder: OutcomeRecorder,
    private readonly schedules: ScheduleStore,
    private readonly pausePoints: PausePoints,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  async conclude(tx: Tx, review: DeploymentReview): Promise<void> {
    // Rows of plans are written before any event: other transactions lock a plan first, and then the stream.
    const outcomes = await this.recorder.record(tx, review);
    await this.ownPlans.supersedeStale(tx, review.deployment);
    await appendEvents(tx, review.deployment.tenantId, deploymentStream(review.deployment.id), outcomes);
    await this.pausePoints.reach('autopilot:round:recorded');
    const situation = await this.situations.of(tx, review);
    const evaluation = evaluate(situation);
    const told = await this.tellCauses(tx, review, evaluation, situation.now);
    // A revert waits for a person like every plan. It needs no cooldown, because it only takes back what was executed.
    const revert = mayRevert(situation) ? await this.recorder.revert(tx, review) : undefined;
    if (revert) {
      await this.pausePoints.reach('autopilot:round:planned');
      const decision = { plan_id: revert.id, message: revert.summary, until: null, at: situation.now.toISOString() };
      return this.schedules.decided(tx, review.deployment.id, decision, told);
    }
    const { finding } = evaluation;
    const outcome =
      finding.kind === 'propose' ? await this.propose(tx, review, situation, evaluation, finding) : finding;
    await this.pausePoints.reach('autopilot:round:planned');
    const at = situation.now.toISOString();
    const { id } = review.deployment;
    if ('planId' in outcome)
      return this.schedules.decided(tx, id, { ...outcome.text, plan_id: outcome.planId, at }, told);
    const reported = await this.tell(tx, { ...review, told }, outcome, evaluation, situation.now);
    const { because, message } = outcome;
    const until = 'until' in outcome ? (outcome.until?.toISOString() ?? null) : null;
    await this.schedules.decided(tx, id, { because, message, until, at }, reported);
  }

  /** Proposes the first option that the targets can run. A draft is checked before anything is written. */
  private async propose(
    tx: Tx,
    review: DeploymentReview,
    situation: Situation,
    evaluation: Evaluation,
    finding: Extract<Finding, { kind: 'propose' }>,
  ): Promise<{ planId: string; text: Pick<RoundDecision, 'message' | 'until'> } | ReportableFinding> {
    const records = review.records as ReviewRecords;
    let refused: { because: Restraint; why: string } | undefined;
    for (const option of finding.options) {
      const full = await this.missingCapacity(tx, review, option);
      if (full) {
        refused ??= { because: 'no_capacity', why: full };
        continue;
      }
      const draft = draftOf(option, review.base, { ...situation, records }, evaluation);
      const written = await this.write(tx, review, draft);
      if ('id' in written) return { planId: written.id, text: { message: draft.summary, until: null } };
      refused ??= { because: 'not_runnable', why: written.refusal };
    }
    const { because, why } = refused as { because: Restraint; why: string };
    const [wrong, change] = (finding.options[0] as Proposal).sentences;
    return { kind: 'missed', because, goals: finding.goals, message: `${wrong} ${change} No plan: ${why}` };
  }

  private async write(
    tx: Tx,
    review: DeploymentReview,
    draft: PlanDraft,
  ): Promise<{ id: string } | { refusal: string }> {
    try {
      return await this.author.write(tx, review, draft, { actor: AUTOPILOT_ACTOR, owner: null, minters: [] });
    } catch (refusal) {
      if (refusal instanceof SlipwayError && refusal.code === 'validation_failed') return { refusal: refusal.message };
      throw refusal;
    }
  }

  /** The candidate runs next to the active revision, so a target without capacity for both cannot roll it out. */
  private async missingCapacity(
    tx: Tx,
    { deployment, base }: DeploymentReview,
    { changes }: Proposal,
  ): Promise<string | undefined> {
    const spec = applyChanges(base.spec, changes).spec as unknown as Revision['spec'];
    const capacity = await this.instances.forecastCapacity(tx, {
      tenantId: deployment.tenantId,
      deploymentId: deployment.id,
      spec,
      takesOver: { revisionIds: [base.id], areStopped: false },
    });
    return isExhausted(capacity) ? capacityText(capacity) : undefined;
  }

  /** Reports the causes of the SLOs if one of them changed. @returns what is reported then */
  private async tellCauses(
    tx: Tx,
    review: DeploymentReview,
    { diagnosis }: Evaluation,
    now: Date,
  ): Promise<ReportedFindings> {
    const { told, base, policy } = review;
    if (!diagnosis) return told;
    const before = told['diagnosed'];
    const key = causesKey(base, diagnosis, before?.key);
    const seconds = policy.content.evidence.min_duration_seconds;
    if (key === base.id || !isWorthReporting(before, key, now, seconds, true)) return told;
    await appendDiagnosis(tx, contextOf(review), diagnosis, before?.key);
    return { ...told, diagnosed: { key, at: now.toISOString() } };
  }

  /** Reports a finding if that is due. @returns what is reported then */
  private async tell(
    tx: Tx,
    review: DeploymentReview,
    finding: ReportableFinding,
    { availability }: Evaluation,
    now: Date,
  ): Promise<ReportedFindings> {
    const { base, policy, told } = review;
    const key = keyOf(base, finding);
    const seconds = policy.content.evidence.min_duration_seconds;
    if (!isWorthReporting(told[finding.kind], key, now, seconds, finding.kind === 'quiet')) return told;
    await appendFinding(tx, contextOf(review), finding, availability);
    return { ...told, [finding.kind]: { key, at: now.toISOString() } };
  }
}

function contextOf({ deployment, base, policy, records }: DeploymentReview): FindingContext {
  return { deployment, base, policy, records };
}

function capacityText({ target, resource, needed, total, free, own, isShare }: CapacityForecast): string {
  const what = resource === 'device' ? 'devices' : 'instances';
  const capacity = isShare ? `the tenant's share of target ${target}` : `target ${target}`;
  return `${capacity} has capacity for ${free} more of ${total} ${what}; the rollout needs ${needed} next to the ${own} that this deployment uses.`;
}

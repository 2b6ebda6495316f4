import { Injectable, Inject } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { SlipwayError } from '@slipway/platform-http';
import { type Deployment, deploymentStream } from '@slipway/ports/deployment-records';
import type { Policy } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { evaluate, periodDays, type AutopilotFinding, type ProposalHistory } from './evaluation.js';
import { AUTOPILOT_ACTOR, appendFinding, isWorthReporting, keyOf, type ReportableFinding } from './findings.js';
import { PlanAuthor } from '../plans/plan-author.js';
import { draftOf } from './proposal.js';
import type { ReportedFindings } from './schedule.entity.js';
import { ScheduleStore } from './schedule.store.js';
import type { Telemetry } from './slo-evidence.js';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { PLANS, type PlansPort } from '@slipway/ports/plans';

/** The state of a deployment as one round read it. The deployment is locked; `base` is its active revision. */
export interface DeploymentReview {
  deployment: Deployment;
  base: Revision;
  policy: Policy;
  telemetry: Telemetry | undefined;
  told: ReportedFindings;
}

/** The proposals of the autopilot itself. The caller holds the deployment's lock. */
@Injectable()
export class OwnPlans {
  constructor(@Inject(PLANS) private readonly plans: PlansPort) {}

  /** Withdraws undecided proposals whose base is no longer active. Only people may reject the proposals of people. */
  async supersedeStale(tx: Tx, deployment: Deployment): Promise<void> {
    const events: NewEvent[] = [];
    for (const plan of await this.plans.open(tx, deployment.id)) {
      const { baseRevisionId, creator } = plan;
      if (creator.actor.type !== AUTOPILOT_ACTOR.type || baseRevisionId === deployment.activeRevisionId) continue;
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

/** Acts on a finding: it writes a plan, reports in an event, or does nothing. It has no other effect. */
@Injectable()
export class Advisor {
  constructor(
    private readonly ownPlans: OwnPlans,
    private readonly author: PlanAuthor,
    private readonly schedules: ScheduleStore,
  ) {}

  async conclude(tx: Tx, review: DeploymentReview): Promise<void> {
    const { deployment, base, policy, telemetry } = review;
    await this.ownPlans.supersedeStale(tx, deployment);
    const finding = evaluate({
      now: await tx.now(),
      policy: policy.content,
      spec: base.spec,
      telemetry,
      isChanging: deployment.currentOperationId !== null || deployment.state === 'deleting',
      history: await this.ownPlans.history(tx, deployment, periodDays(policy.content)),
    });
    if (finding.kind === 'propose') await this.propose(tx, review, finding);
    else if (finding.kind !== 'quiet') await this.tell(tx, review, finding);
  }

  /** Proposes the first option that the targets can run. A draft is checked before anything is written. */
  private async propose(
    tx: Tx,
    review: DeploymentReview,
    finding: Extract<AutopilotFinding, { kind: 'propose' }>,
  ): Promise<void> {
    const { base, policy, telemetry } = review;
    for (const option of finding.options) {
      try {
        await this.author.write(
          tx,
          review,
          draftOf(option, base, policy.content, finding.results, telemetry as Telemetry),
          { actor: AUTOPILOT_ACTOR, owner: null, minters: [] },
        );
        return;
      } catch (refusal) {
        if (!(refusal instanceof SlipwayError) || refusal.code !== 'validation_failed') throw refusal;
      }
    }
    await this.tell(tx, review, { kind: 'missed', results: finding.results, because: 'not_runnable' });
  }

  private async tell(
    tx: Tx,
    { deployment, base, policy, telemetry, told }: DeploymentReview,
    finding: ReportableFinding,
  ): Promise<void> {
    const key = keyOf(base, finding);
    const now = await tx.now();
    if (!isWorthReporting(told[finding.kind], key, now, policy.content.evidence.min_duration_seconds)) return;
    await this.schedules.tell(tx, deployment, { ...told, [finding.kind]: { key, at: now.toISOString() } });
    await appendFinding(tx, { deployment, base, policy, telemetry }, finding);
  }
}

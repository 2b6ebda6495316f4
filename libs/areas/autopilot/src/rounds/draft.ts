import { mergeRecords, type ServiceRecord } from '@slipway/dataplane';
import { calibrate, type Goal, type GoalDiagnosis } from '@slipway/diagnosis';
import { digestOf } from '@slipway/platform-database';
import type { PlanChangeDto, PlanEvidenceDto } from '@slipway/ports/plans';
import type { PolicyContent } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { allowedSteps } from '../plans/plan-boundaries.js';
import { applyChanges, mergePatchBetween } from '../plans/plan-changes.js';
import type { PlanDraft } from '../plans/plan-author.js';
import { standing } from './availability.js';
import { summaryOf } from './evaluation.js';
import { errorGate, statedLevel } from './goals.js';
import { isInside, isPredictable, predictionOf } from './review.js';
import {
  soakSecondsOf,
  type AvailabilityResult,
  type Evaluation,
  type Proposal,
  type ReviewRecords,
  type Situation,
} from './situation.js';
import { exact } from './texts.js';

/** How much worse than the active revision the candidate may be at the same load, where no limit can be promised. */
const MAX_REGRESSION_PERCENT = 10;

/**
 * Returns a proposal as a plan. The rollout begins with the share of the traffic that the policy allows for
 * experiments, rises by its steps, and is judged by its SLOs. If no such canary is possible, the candidate is only
 * built, and a person sets the route.
 */
export function draftOf(
  proposal: Proposal,
  base: Pick<Revision, 'name' | 'spec'>,
  situation: Situation & { records: ReviewRecords },
  { diagnosis, availability, peakRate }: Evaluation,
): PlanDraft {
  const { policy } = situation;
  const goals = diagnosis?.goals ?? [];
  const summary = summaryOf(proposal);
  return {
    kind: proposal.kind,
    summary,
    changes: proposal.changes,
    rollout: rolloutOf(
      base,
      { changes: proposal.changes, reason: summary },
      policy,
      gateOf(goals, proposal, situation),
    ),
    evidence: [
      ...goals.filter(({ value }) => value).map((one) => evidenceOf(one, situation.records)),
      ...(availability?.verdict === 'missed' ? [availabilityEvidence(availability, situation.records)] : []),
    ],
    assumes: assumptionsOf(situation, diagnosis, peakRate),
    predictedImpact: impactOf(proposal, situation),
    risk: proposal.risk,
  };
}

/** Returns the rollout of changes: the canary that the policy allows, with its gate, or else a candidate. */
export function rolloutOf(
  base: Pick<Revision, 'name' | 'spec'>,
  { changes, reason }: { changes: readonly PlanChangeDto[]; reason: string },
  policy: PolicyContent,
  gate: readonly object[],
): PlanDraft['rollout'] {
  const steps = allowedSteps(policy)?.map((step) => ({ ...step, soak_seconds: soakSecondsOf(policy) }));
  return {
    spec_patch: mergePatchBetween({ ...base.spec }, applyChanges(base.spec, changes).spec),
    base_revision: base.name,
    reason,
    ...(steps
      ? { strategy: { type: 'canary', steps }, analysis: { metrics: gate } }
      : { strategy: { type: 'candidate' } }),
  };
}

/**
 * A threshold stops the rollout, so it is only set where the prediction promises to keep it: a plan that fixes one of
 * two missed SLOs must not be rolled back for the other. The others must not be worse than before at the same load.
 */
export function gateOf(
  goals: readonly GoalDiagnosis[],
  { predictions }: Pick<Proposal, 'predictions'>,
  { policy }: Pick<Situation, 'policy'>,
): object[] {
  const { min_samples } = policy.evidence;
  const checks = goals.map(({ goal, cause }) => {
    const { metric: name, stat, threshold } = goal;
    const predicted = predictionOf(goal, predictions)?.predicted;
    const isPromised = isPredictable(goal) ? predicted !== undefined && isInside(goal, predicted) : cause === 'met';
    return isPromised
      ? { name, stat, check: 'threshold', threshold, min_samples }
      : { name, stat, check: 'regression', max_regression_percent: MAX_REGRESSION_PERCENT, min_samples };
  });
  if (goals.some(({ goal }) => goal.metric === 'error_rate')) return checks;
  return [...checks, errorGate(policy)];
}

function assumptionsOf(
  { spec }: Situation,
  diagnosis: Evaluation['diagnosis'],
  peakRate: number | null,
): PlanDraft['assumes'] {
  const observed = diagnosis?.workload.observed;
  return {
    peak_request_rate: peakRate === null ? null : exact(peakRate),
    input_tokens_p95: wholeOf(observed?.inputTokensP95),
    output_tokens_p95: wholeOf(observed?.outputTokensP95),
    engine_version: spec.runtime.engine ?? null,
  };
}

function impactOf(
  { predictions, cost, basis, gpuHours }: Proposal,
  { policy, calibration }: Situation,
): Record<string, unknown> {
  const { calibratedOn } = calibrate(calibration, policy.evidence.confidence);
  return {
    metrics: predictions.map(({ metric, stat, now, baseline, predicted: { value, low, high } }) => ({
      metric,
      stat,
      now: now === null ? null : exact(now),
      ...(baseline && {
        baseline: {
          low: exact(baseline.low),
          high: Number.isFinite(baseline.high) ? exact(baseline.high) : null,
          n: baseline.n,
        },
      }),
      predicted: { value: exact(value), low: exact(low), high: exact(high) },
      confidence: statedLevel(policy),
      // The availability is predicted without a curve.
      calibrated_on: metric === 'availability_percent' ? 0 : calibratedOn,
    })),
    cost,
    basis,
    gpu_hours: gpuHours,
  };
}

/** The digest covers the records themselves, so that anyone who keeps them can check the conclusion. */
function evidenceOf(
  { goal, value }: Pick<GoalDiagnosis, 'value'> & { goal: Goal },
  { revisionId, from, to, window }: ReviewRecords,
): PlanEvidenceDto {
  return {
    kind: 'telemetry',
    tool: 'slipway',
    metric: goal.metric,
    stat: goal.stat,
    baseline: value ? { value: exact(value.value), n: value.n } : null,
    candidate: null,
    delta_percent: null,
    digest: `sha256:${digestOf({ revision_id: revisionId, from: from.toISOString(), to: to.toISOString(), records: total(window) })}`,
    collected_at: to.toISOString(),
  };
}

function availabilityEvidence(availability: AvailabilityResult, { revisionId, to }: ReviewRecords): PlanEvidenceDto {
  return {
    kind: 'telemetry',
    tool: 'slipway',
    metric: 'availability_percent',
    stat: 'rate',
    baseline: { value: availability.value?.value ?? null, n: availability.minutes },
    delta_percent: null,
    digest: `sha256:${digestOf({ revision_id: revisionId, text: standing(availability) })}`,
    collected_at: to.toISOString(),
  };
}

function total(window: readonly ServiceRecord[]): unknown {
  return JSON.parse(JSON.stringify(mergeRecords(window)));
}

function wholeOf(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value);
}

import { digestOf } from '@slipway/platform-database';
import type { PolicyContent, Slo } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import type { SloResult } from './confidence.js';
import type { PlanDraft } from './plans/plan-author.js';
import { allowedSteps } from './plans/plan-boundaries.js';
import { applyChanges, mergePatchBetween } from './plans/plan-changes.js';
import type { PlanEvidenceDto } from '@slipway/ports/plans';
import type { Proposal } from './rounds/proposal.js';
import type { Telemetry } from './rounds/slo-evidence.js';

const SOAK_SECONDS = 180;

/**
 * A proposal as a plan: the rollout begins with the share of the traffic that the policy allows for experiments, rises by its
 * steps, and is judged by its SLOs. Where no such canary can be had the candidate is only built, and a person sets the route.
 */
export function draftOf(
  proposal: Proposal,
  base: Revision,
  policy: PolicyContent,
  missed: readonly SloResult[],
  telemetry: Telemetry,
): PlanDraft {
  const { spec } = applyChanges(base.spec, proposal.changes);
  const steps = allowedSteps(policy)?.map((step) => ({ ...step, soak_seconds: SOAK_SECONDS }));
  const moving = steps
    ? { strategy: { type: 'canary', steps }, analysis: { metrics: policy.slos.map((slo) => metricOf(slo, policy)) } }
    : { strategy: { type: 'candidate' } };
  return {
    summary: proposal.summary,
    changes: proposal.changes,
    rollout: {
      spec_patch: mergePatchBetween({ ...base.spec }, spec),
      base_revision: base.name,
      reason: proposal.summary,
      ...moving,
    },
    evidence: missed.map((result) => evidenceOf(result, telemetry)),
    predictedImpact: proposal.predictedImpact,
    risk: proposal.risk,
  };
}

function metricOf({ metric, stat, threshold }: Slo, { evidence }: PolicyContent) {
  return { name: metric, stat, check: 'threshold', threshold, min_samples: evidence.min_samples };
}

/** The digest is of the records themselves, so that whoever keeps them can check what was concluded from them. */
function evidenceOf({ slo, value, n }: SloResult, { revisionId, from, to, stats }: Telemetry): PlanEvidenceDto {
  const digest = digestOf({ revision_id: revisionId, from: from.toISOString(), to: to.toISOString(), stats });
  return {
    kind: 'telemetry',
    tool: 'slipway',
    metric: slo.metric,
    stat: slo.stat,
    baseline: { value, n },
    candidate: null,
    delta_percent: null,
    digest: `sha256:${digest}`,
    collected_at: to.toISOString(),
  };
}

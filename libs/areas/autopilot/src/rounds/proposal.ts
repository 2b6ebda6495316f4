import type { PolicyContent, Slo } from '@slipway/ports/policies';
import { metricOf, type RevisionSpec } from '@slipway/contracts';
import { coversKnob, type PlanRisk, allowedSteps } from '../plans/plan-boundaries.js';
import { type SpecChange, applyChanges, mergePatchBetween } from '../plans/plan-changes.js';
import type { SloResult, Telemetry } from './slo-evidence.js';
import { digestOf } from '@slipway/platform-database';
import type { Revision } from '@slipway/ports/revisions';
import type { PlanDraft } from '../plans/plan-author.js';
import type { PlanEvidenceDto } from '@slipway/ports/plans';

/** One change that could help. Whether the targets can run it is checked later. */
export interface Proposal {
  changes: Required<SpecChange>[];
  summary: string;
  predictedImpact: Record<string, unknown>;
  /** At most: as if the change were kept for the whole period of the budget. */
  gpuHours: number;
  risk: PlanRisk;
}

const REPLICAS = ['scaling', 'min_replicas'];
const PERIOD_HOURS = { day: 24, week: 168, month: 720 } as const;

/**
 * Engine arguments whose effect is known: how many requests one instance serves at once. A smaller number gives lower
 * latency, a larger one higher throughput. Other arguments are left alone, because their effect would be a guess.
 */
const BATCH_ARGS = ['max_num_seqs', 'max_batch_size', 'max_concurrent_requests', 'parallel', 'n_parallel'];
const BATCH_STEP = 0.25;

/** Returns the allowed changes that may help against the missed SLOs, the surest first. */
export function proposalsFor(spec: RevisionSpec, policy: PolicyContent, missed: readonly SloResult[]): Proposal[] {
  const knobs = policy.experiment_budget.allowed_knobs ?? [REPLICAS.join('.')];
  const isAllowed = (leaf: readonly string[]): boolean => knobs.some((knob) => coversKnob(knob, leaf));
  const replicas = isAllowed(REPLICAS) ? moreReplicas(spec, policy, missed) : undefined;
  const args = BATCH_ARGS.filter((name) => isAllowed(['runtime', 'args', name])).map((name) =>
    otherBatch(spec, name, policy, missed),
  );
  return [replicas, ...args].filter((proposal) => proposal !== undefined);
}

function moreReplicas(spec: RevisionSpec, policy: PolicyContent, missed: readonly SloResult[]): Proposal | undefined {
  const { min_replicas: from, max_replicas: most } = spec.scaling;
  const value = from + 1;
  if (most !== undefined && value > most) return undefined;
  const gpus = spec.resources?.accelerator === undefined ? 0 : (spec.resources.count ?? 1);
  const gpuHours = gpus * PERIOD_HOURS[policy.experiment_budget.period];
  const perReplica = Math.round(-100_000 / value) / 1_000;
  const isErrors = missed.some(({ slo }) => metricOf(slo.metric).kind === 'rate');
  return {
    changes: [
      {
        op: 'replace',
        path: '/scaling/min_replicas',
        from,
        value,
        rationale: `${told(missed)}: one more replica reduces the load on the others`,
      },
    ],
    summary: `${told(missed)}. Run ${value} replicas instead of ${from}.`,
    predictedImpact: {
      load_per_replica_percent: perReplica,
      gpu_hours: gpuHours,
      basis: 'assumes an even load on all replicas; the effect on the SLO is not predicted',
    },
    gpuHours,
    risk: {
      level: isErrors ? 'medium' : 'low',
      reasons: [
        ...(isErrors ? ['Errors may have other causes than load: more replicas may not help'] : []),
        ...costRisk(policy),
      ],
    },
  };
}

function otherBatch(
  spec: RevisionSpec,
  name: string,
  policy: PolicyContent,
  missed: readonly SloResult[],
): Proposal | undefined {
  const from = spec.runtime.args[name];
  const isThroughput = missed.every(({ slo }) => metricOf(slo.metric).better === 'higher');
  // One argument cannot serve SLOs that pull it both ways, and errors do not show the direction.
  if (
    typeof from !== 'number' ||
    !Number.isInteger(from) ||
    missed.some(({ slo }) => metricOf(slo.metric).kind === 'rate')
  )
    return undefined;
  if (!isThroughput && missed.some(({ slo }) => metricOf(slo.metric).better === 'higher')) return undefined;
  const value = isThroughput ? Math.ceil(from * (1 + BATCH_STEP)) : Math.floor(from * (1 - BATCH_STEP));
  if (value < 1 || value === from) return undefined;
  return {
    changes: [
      {
        op: 'replace',
        path: `/runtime/args/${name}`,
        from,
        value,
        rationale: `${told(missed)}: ${isThroughput ? 'more' : 'fewer'} concurrent requests per instance`,
      },
    ],
    summary: `${told(missed)}. Set ${name} to ${value} instead of ${from}.`,
    predictedImpact: {
      requests_at_once_percent: Math.round(((value - from) / from) * 100_000) / 1_000,
      gpu_hours: 0,
      basis: 'direction only; the effect on the SLO is not predicted',
    },
    gpuHours: 0,
    risk: { level: 'medium', reasons: [`${name} trades latency against throughput`, ...costRisk(policy)] },
  };
}

function told(missed: readonly SloResult[]): string {
  return missed
    .map(({ slo, value, n }) => `${nameOf(slo)} is ${value}, the limit is ${slo.threshold} (${n} samples)`)
    .join('; ');
}

export function nameOf({ metric, stat }: Slo): string {
  return stat === 'rate' ? metric : `${metric} ${stat}`;
}

function costRisk({ experiment_budget: { max_cost: cost } }: PolicyContent): string[] {
  return cost
    ? [`Slipway does not know prices: the approver must check that this stays within ${cost.amount} ${cost.currency}`]
    : [];
}

const SOAK_SECONDS = 180;

/**
 * Returns a proposal as a plan. The rollout begins with the share of the traffic that the policy allows for
 * experiments, rises by its steps, and is judged by its SLOs. If no such canary is possible, the candidate is only
 * built, and a person sets the route.
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
    ? {
        strategy: { type: 'canary', steps },
        analysis: { metrics: policy.slos.map((slo) => gateMetricOf(slo, policy)) },
      }
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

function gateMetricOf({ metric, stat, threshold }: Slo, { evidence }: PolicyContent) {
  return { name: metric, stat, check: 'threshold', threshold, min_samples: evidence.min_samples };
}

/** The digest covers the records themselves, so that anyone who keeps them can check the conclusion. */
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

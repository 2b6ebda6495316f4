import type { FieldIssue } from '@slipway/platform-http';
import type { PolicyContent } from '@slipway/ports/policies';
import { SPEC_MEMBERS, type RevisionSpec } from '@slipway/contracts';
import { changedLeaves, tokensOf } from './plan-changes.js';

export interface PlanRisk {
  level: 'low' | 'medium' | 'high';
  reasons: string[];
}

export interface PlanStrategy {
  type?: string;
  steps?: { traffic_percent: number }[];
}

/** The number and age of samples, as an evidence item states them. */
export interface EvidenceSamples {
  baseline?: { value: number | null; n: number } | null;
  candidate?: { value: number | null; n: number } | null;
  collected_at?: string | null;
}

const MOST_STEPS = 32;

/**
 * Returns whether a knob of a policy covers a value of the spec. A knob covers every value under it; a bare name is an
 * engine argument.
 */
export function coversKnob(knob: string, leaf: readonly string[]): boolean {
  const named = knob
    .replace(/^\//, '')
    .split(/[./]/)
    .filter((part) => part !== '*');
  const tokens =
    named.length === 1 && !(SPEC_MEMBERS as readonly string[]).includes(named[0] as string)
      ? ['runtime', 'args', ...named]
      : named;
  return tokens.length <= leaf.length && tokens.every((token, index) => token === leaf[index]);
}

/**
 * Compares the requested changes with the allowed ones. A policy that names no knobs forbids none to people; the
 * autopilot then only changes `scaling.min_replicas`.
 * @param paths JSON Pointers of the request's changes, to name the field that is not allowed
 */
export function forbiddenChanges(
  policy: PolicyContent | undefined,
  base: RevisionSpec,
  spec: RevisionSpec,
  paths: readonly string[],
): FieldIssue[] {
  const knobs = policy?.experiment_budget.allowed_knobs;
  if (!knobs) return [];
  return changedLeaves(base, spec)
    .filter((leaf) => !knobs.some((knob) => coversKnob(knob, leaf)))
    .map((leaf) => {
      const at = paths.findIndex((path) => tokensOf(path).every((token, index) => token === leaf[index]));
      const message = `the policy does not allow changes to ${leaf.join('.')}; allowed: ${knobs.join(', ') || 'none'}`;
      return { field: at < 0 ? 'rollout' : `changes[${at}].path`, code: 'not_allowed', message };
    });
}

/** Checks that a canary with steps of its own does not raise the traffic faster than the policy allows. */
export function stepIssues(policy: PolicyContent | undefined, { type, steps }: PlanStrategy): FieldIssue[] {
  if (!policy || (type !== 'canary' && type !== 'auto') || !steps) return [];
  const most = policy.promotion.max_step_percent;
  return steps.flatMap((step, index) => {
    const rise = step.traffic_percent - (steps[index - 1]?.traffic_percent ?? 0);
    if (rise <= most) return [];
    const message = `this step raises the traffic by ${rise} percentage points; the policy allows at most ${most} (promotion.max_step_percent)`;
    return [{ field: `rollout.strategy.steps[${index}].traffic_percent`, code: 'max', message }];
  });
}

/**
 * Returns the steps that a policy allows, up to 100 percent; undefined if no rollout of at most 32 steps begins small
 * enough.
 */
export function allowedSteps({
  promotion,
  experiment_budget: budget,
}: PolicyContent): { traffic_percent: number }[] | undefined {
  const first = Math.floor(Math.min(budget.max_traffic_percent, promotion.max_step_percent));
  if (first < 1) return undefined;
  const steps = [first];
  for (let last = first; last < 100; steps.push(last))
    last = Math.min(100, last + Math.floor(promotion.max_step_percent));
  return steps.length <= MOST_STEPS ? steps.map((traffic_percent) => ({ traffic_percent })) : undefined;
}

/** Combines the risk that the author states with the policy's additions. The approver sees both and decides. */
export function assessRisk(
  stated: Partial<PlanRisk>,
  policy: PolicyContent | undefined,
  strategy: PlanStrategy,
  evidence: readonly EvidenceSamples[],
  now: Date,
): PlanRisk {
  const found = [...strategyRisks(policy, strategy), ...evidenceRisks(policy, evidence, now)];
  const level = stated.level ?? 'low';
  return {
    level: level === 'low' && found.length > 0 ? 'medium' : level,
    reasons: [...new Set([...(stated.reasons ?? []), ...found])],
  };
}

function strategyRisks(policy: PolicyContent | undefined, { type, steps }: PlanStrategy): string[] {
  if (type === 'recreate')
    return ['recreate stops the active revision before the candidate starts: neither serves requests in between'];
  if (type === 'immediate' || type === 'blue_green') {
    const limit =
      policy && policy.promotion.max_step_percent < 100
        ? `; the policy's max_step_percent is ${policy.promotion.max_step_percent}`
        : '';
    return [`${type} moves all traffic in one step${limit}`];
  }
  const first = type === 'canary' || type === 'auto' ? steps?.[0]?.traffic_percent : undefined;
  const most = policy?.experiment_budget.max_traffic_percent;
  if (first === undefined || most === undefined || first <= most) return [];
  return [`The first step gives the candidate ${first} % of the traffic; the policy's max_traffic_percent is ${most}`];
}

function evidenceRisks(policy: PolicyContent | undefined, evidence: readonly EvidenceSamples[], now: Date): string[] {
  if (evidence.length === 0) return ['The plan contains no evidence'];
  if (!policy) return [];
  const { min_samples: least, max_age_seconds: oldest } = policy.evidence;
  return evidence.flatMap(({ baseline, candidate, collected_at: at }, index) => {
    const thin = [baseline, candidate].some((side) => side && side.n < least)
      ? [`evidence[${index}] has fewer than the ${least} samples that the policy requires`]
      : [];
    const isOld = at !== undefined && at !== null && now.getTime() - Date.parse(at) > oldest * 1_000;
    return isOld ? [...thin, `evidence[${index}] is older than the ${oldest} s that the policy allows`] : thin;
  });
}

import type { PolicyContent, Slo } from '@slipway/ports/policies';
import { isBeyond, type RevisionSpec } from '@slipway/contracts';
import { measureSlo, type SloResult, type ThinReason, type Telemetry } from './slo-evidence.js';
import { proposalsFor, type Proposal } from './proposal.js';

export interface Situation {
  now: Date;
  policy: PolicyContent;
  spec: RevisionSpec;
  /** Undefined if no gateway reports. */
  telemetry: Telemetry | undefined;
  /** Whether an operation is changing the deployment at this moment. */
  isChanging: boolean;
  history: ProposalHistory;
}

/** The earlier actions of the autopilot for this deployment. */
export interface ProposalHistory {
  hasOpenPlan: boolean;
  lastProposedAt: Date | null;
  /** Proposals in the budget's period, and the GPU hours they were estimated to cost. */
  proposedInPeriod: number;
  gpuHoursInPeriod: number;
}

export type Restraint = 'observe' | 'freeze_window' | 'budget' | 'no_allowed_knob' | 'not_runnable';

/**
 * The result of a review. `quiet`: nothing to report. `insufficient`: the evidence is too thin for a conclusion.
 * `missed`: an SLO is missed and nothing is proposed, for the given reason. `propose`: the first of the options that
 * the targets can run.
 */
export type AutopilotFinding =
  | { kind: 'quiet'; because: string }
  | { kind: 'insufficient'; results: SloResult[]; because: ThinReason | 'no_gateway' | 'not_recorded_so_long' }
  | { kind: 'missed'; results: SloResult[]; because: Restraint }
  | { kind: 'propose'; results: SloResult[]; options: Proposal[] };

/**
 * The reviews read three days of the gateways' records: no installation keeps them for less
 * (`retention.statistics_days`).
 */
export const RECORDED_SECONDS = 259_200;
/** Share of the requested time that the samples must span. */
const LEAST_SPAN = 0.8;
const PERIOD_DAYS = { day: 1, week: 7, month: 30 } as const;

/** Judges a situation. Pure: the same situation always gives the same finding, and this function acts on nothing. */
export function evaluate(situation: Situation): AutopilotFinding {
  const { policy, telemetry, history, now } = situation;
  if (policy.mode === 'off') return { kind: 'quiet', because: 'off' };
  if (policy.slos.length === 0) return { kind: 'quiet', because: 'no_slos' };
  if (situation.isChanging) return { kind: 'quiet', because: 'operation_in_progress' };
  if (policy.evidence.min_duration_seconds > RECORDED_SECONDS)
    return { kind: 'insufficient', results: [], because: 'not_recorded_so_long' };
  if (!telemetry) return { kind: 'insufficient', results: [], because: 'no_gateway' };

  const results = policy.slos.map((slo) => judge(slo, telemetry, policy.evidence));
  const missed = results.filter((result) => result.verdict === 'missed');
  const thin = results.filter((result) => result.verdict === 'thin');
  if (missed.length === 0 && thin.length > 0)
    return { kind: 'insufficient', results: thin, because: thin[0]?.reason as ThinReason };
  if (missed.length === 0) return { kind: 'quiet', because: 'met' };

  if (policy.mode === 'observe') return { kind: 'missed', results: missed, because: 'observe' };
  if (history.hasOpenPlan) return { kind: 'quiet', because: 'open_plan' };
  if (isFrozen(policy, now)) return { kind: 'missed', results: missed, because: 'freeze_window' };
  const cooledAt = (history.lastProposedAt?.getTime() ?? -Infinity) + policy.promotion.cooldown_seconds * 1_000;
  if (now.getTime() < cooledAt) return { kind: 'quiet', because: 'cooldown' };
  const proposals = proposalsFor(situation.spec, policy, missed);
  if (proposals.length === 0) return { kind: 'missed', results: missed, because: 'no_allowed_knob' };
  const affordable = proposals.filter((proposal) => isAffordable(proposal, policy, history));
  if (affordable.length === 0) return { kind: 'missed', results: missed, because: 'budget' };
  return { kind: 'propose', results: missed, options: affordable };
}

/** Returns the length of a budget's period, in days. */
export function periodDays(policy: PolicyContent): number {
  return PERIOD_DAYS[policy.experiment_budget.period];
}

function judge(slo: Slo, telemetry: Telemetry, evidence: PolicyContent['evidence']): SloResult {
  const measured = measureSlo(slo, telemetry.stats, evidence.confidence);
  const { value, kindest, n } = measured;
  if (value === null || kindest === null || n < evidence.min_samples)
    return { slo, ...measured, verdict: 'thin', reason: 'samples' };
  if (spanOf(telemetry.parts) < LEAST_SPAN) return { slo, ...measured, verdict: 'thin', reason: 'duration' };
  if (!isBeyond(slo.metric, value, slo.threshold)) return { slo, ...measured, verdict: 'met' };
  if (!isBeyond(slo.metric, kindest, slo.threshold)) return { slo, ...measured, verdict: 'thin', reason: 'confidence' };
  return { slo, ...measured, verdict: 'missed' };
}

/** Returns the time from the first part with a sample to the last, as a share of all. */
function spanOf(parts: readonly number[]): number {
  const first = parts.findIndex((n) => n > 0);
  if (first < 0) return 0;
  const last = parts.length - 1 - [...parts].reverse().findIndex((n) => n > 0);
  return (last - first + 1) / parts.length;
}

function isFrozen({ reliability }: PolicyContent, now: Date): boolean {
  return reliability.freeze_windows.some(
    ({ start, end }) => Date.parse(start) <= now.getTime() && now.getTime() < Date.parse(end),
  );
}

/**
 * Slipway knows no prices: an amount of 0 forbids everything. The approver sees any other amount with the plan's risk.
 */
function isAffordable(
  proposal: Proposal,
  { experiment_budget: budget }: PolicyContent,
  history: ProposalHistory,
): boolean {
  if (budget.max_experiments !== undefined && history.proposedInPeriod >= budget.max_experiments) return false;
  if (budget.max_cost?.amount === 0) return false;
  return budget.max_gpu_hours === undefined || history.gpuHoursInPeriod + proposal.gpuHours <= budget.max_gpu_hours;
}

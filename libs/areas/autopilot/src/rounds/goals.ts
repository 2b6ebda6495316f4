import type { RevisionSpec } from '@slipway/contracts';
import { HOURS_KEPT_DAYS, MINUTES_KEPT_DAYS, normalQuantile, wilsonInterval } from '@slipway/dataplane';
import { levelOf, type DiagnosisInput, type Goal, type MeasuredValue } from '@slipway/diagnosis';
import type { PolicyContent } from '@slipway/ports/policies';
import { replicasNow, scaleOf, type AvailabilityResult, type ReviewRecords, type Situation } from './situation.js';
import { declaredWorkload } from './workload.js';

/** A larger share of failures explains a missed latency, if the policy names none. */
export const DEFAULT_ERROR_LIMIT = 0.05;

const DAY_SECONDS = 86_400;
/** The reviews read hourly records: others are not kept for longer. */
export const RECORDED_SECONDS = HOURS_KEPT_DAYS * DAY_SECONDS;
export const RECORDED_MINUTES_SECONDS = MINUTES_KEPT_DAYS * DAY_SECONDS;
/** Arguments of engines that state how many requests one instance serves at once. */
const SLOT_ARGS = ['max_num_seqs', 'max_batch_size', 'max_concurrent_requests', 'parallel', 'n_parallel'];

/** Returns the SLOs of a policy, and the error rate of its `reliability` unless an SLO limits that already. */
export function goalsOf({ slos, reliability }: PolicyContent): Goal[] {
  const { max_error_rate: limit } = reliability;
  if (limit === undefined || slos.some(({ metric }) => metric === 'error_rate')) return slos;
  return [...slos, { metric: 'error_rate', stat: 'rate', threshold: limit }];
}

export function errorLimitOf({ reliability }: PolicyContent): number {
  return reliability.max_error_rate ?? DEFAULT_ERROR_LIMIT;
}

/** Limits the error rate of a plan's rollout. */
export function errorGate(policy: PolicyContent): object {
  const { min_samples } = policy.evidence;
  return { name: 'error_rate', stat: 'rate', check: 'threshold', threshold: errorLimitOf(policy), min_samples };
}

/** Returns the level of the intervals that a plan states. */
export function statedLevel({ evidence }: PolicyContent): number {
  return Math.round(levelOf(evidence.confidence) * 1e6) / 1e6;
}

/** Whether the policy has anything to judge or to improve. */
export function hasGoals(policy: PolicyContent): boolean {
  return (
    goalsOf(policy).length > 0 ||
    policy.reliability.min_availability_percent !== undefined ||
    policy.objective !== undefined
  );
}

/** Returns the input of the diagnosis. */
export function diagnosisInputOf(
  { policy, spec, override, calibration }: Pick<Situation, 'policy' | 'spec' | 'override' | 'calibration'>,
  { window, history, arrivals }: Pick<ReviewRecords, 'window' | 'history' | 'arrivals'>,
): DiagnosisInput {
  const slots = slotsOf(spec);
  return {
    goals: goalsOf(policy),
    evidence: { minSamples: policy.evidence.min_samples, confidence: policy.evidence.confidence },
    window,
    history,
    arrivals,
    declared: declaredWorkload(policy.workload),
    pool: { replicas: replicasNow(scaleOf({ spec, override }), window), ...(slots === undefined ? {} : { slots }) },
    errorLimit: errorLimitOf(policy),
    calibration,
  };
}

function slotsOf({ runtime }: RevisionSpec): number | undefined {
  const slots = SLOT_ARGS.map((name) => Number(runtime.args[name])).find((value) => value >= 1);
  return slots === undefined || !Number.isFinite(slots) ? undefined : slots;
}

/** Judges the availability. */
export function judgeAvailability(
  { reliability, evidence }: PolicyContent,
  { minutes, refusedMinutes }: ReviewRecords['availability'],
): AvailabilityResult | undefined {
  const { min_availability_percent: threshold } = reliability;
  if (threshold === undefined) return undefined;
  const counted = { threshold, minutes, refusedMinutes };
  const value = availabilityIn({ minutes, refusedMinutes }, evidence.confidence);
  if (!value) return { ...counted, value, verdict: 'thin' };
  if (value.value >= threshold) return { ...counted, value, verdict: 'met' };
  return { ...counted, value, verdict: value.high < threshold ? 'missed' : 'thin' };
}

/** Returns the share of minutes, in percent, in which no request was refused because no instance could be had. */
export function availabilityIn(
  { minutes, refusedMinutes }: ReviewRecords['availability'],
  confidence: number,
): MeasuredValue | null {
  if (minutes === 0) return null;
  const { low, high } = shareInterval(refusedMinutes, minutes, confidence);
  const value = percentOf(1 - refusedMinutes / minutes);
  return { value, low: percentOf(1 - high), high: percentOf(1 - low), n: minutes };
}

/** @param confidence one-sided */
export function shareInterval(events: number, of: number, confidence: number): { low: number; high: number } {
  return wilsonInterval(events / of, of, normalQuantile(confidence));
}

function percentOf(share: number): number {
  return Math.round(share * 1e6) / 1e4;
}

import type { GoalDiagnosis } from '@slipway/diagnosis';
import type { PolicyContent } from '@slipway/ports/policies';
import { barOf } from '../learning/idea.js';
import { exceededBudget } from './budget.js';
import { hasGoals, judgeAvailability, RECORDED_SECONDS } from './goals.js';
import { improvementFor } from './objective.js';
import { metText } from './right-sizing.js';
import { reviewOf, type Review } from './review.js';
import { proposalsFor } from './sizing.js';
import { standing } from './availability.js';
import type {
  AvailabilityResult,
  Evaluation,
  Finding,
  Proposal,
  QuietReason,
  Restraint,
  Situation,
  ThinReason,
} from './situation.js';
import { durationText, standingText } from './texts.js';

const THIN = new Set<string>(['samples', 'duration', 'confidence'] satisfies ThinReason[]);

/** Judges a situation. Pure: the same situation always gives the same finding, and this function acts on nothing. */
export function evaluate(situation: Situation): Evaluation {
  const { records } = situation;
  const review = records && reviewOf({ ...situation, records });
  const availability = records && judgeAvailability(situation.policy, records.availability);
  const finding = beforeJudging(situation) ?? judged(review as Review, availability);
  return { finding, diagnosis: review?.diagnosis, availability, peakRate: review?.predictor.peakRate ?? null };
}

/** Returns the finding if a judgement is impossible or needless. */
function beforeJudging({ policy, isChanging, records }: Situation): Finding | undefined {
  const { min_duration_seconds: seconds } = policy.evidence;
  if (policy.mode === 'off') return quiet('off', 'The mode of the policy is off.');
  if (!hasGoals(policy))
    return quiet('no_slos', 'The policy has no SLO and no objective, so there is nothing to judge.');
  if (isChanging) return quiet('operation_in_progress', 'An operation is changing the deployment.');
  if (seconds > RECORDED_SECONDS)
    return {
      kind: 'insufficient',
      because: 'not_recorded_so_long',
      goals: [],
      message: `evidence.min_duration_seconds is ${durationText(seconds)}, and records are kept for ${durationText(RECORDED_SECONDS)}.`,
    };
  if (!records)
    return {
      kind: 'insufficient',
      because: 'no_gateway',
      goals: [],
      message: 'No gateway reports, so there are no records to judge.',
    };
  return undefined;
}

function judged(review: Review, availability: AvailabilityResult | undefined): Finding {
  const { goals } = review.diagnosis;
  const thin = goals.filter(({ cause, because }) => cause === 'unknown' && THIN.has(because ?? ''));
  const missed = goals.filter((one) => one.cause !== 'met' && !thin.includes(one));
  if (missed.length > 0 || availability?.verdict === 'missed') return forMissed(review, missed, availability);
  if (thin.length > 0)
    return {
      kind: 'insufficient',
      because: (thin[0] as GoalDiagnosis).because as ThinReason,
      goals: thin,
      message: thin.map(({ message }) => message).join(' '),
    };
  return whileMet(review, goals);
}

function forMissed(review: Review, missed: GoalDiagnosis[], availability: AvailabilityResult | undefined): Finding {
  const isUnavailable = availability?.verdict === 'missed';
  const wrong = [
    ...missed.map((one) => `${standingText(one)}.`),
    ...(isUnavailable ? [standing(availability)] : []),
  ].join(' ');
  const withheld = (because: Restraint, message: string, more: object = {}): Finding => ({
    kind: 'missed',
    because,
    goals: missed,
    message,
    ...more,
  });
  const pause = pauseOf(review);
  if (pause) {
    const { because, until } = pause;
    const message = `${wrong} ${pause.message}`;
    if (because === 'open_plan' || because === 'cooldown') return quiet(because, message, until);
    return withheld(because, message, until ? { until } : {});
  }
  const sized = proposalsFor(review, missed, availability);
  if (!('options' in sized))
    return withheld(sized.because, sized.message, sized.request ? { request: sized.request } : {});
  const affordable = sized.options.filter((option) => exceededBudget(option, review) === undefined);
  if (affordable.length === 0)
    return withheld('budget', `${wrong} Nothing is proposed: ${exceededBudget(sized.options[0] as Proposal, review)}.`);
  const options = affordable.filter((option) => barOf(option, review) === undefined);
  const bar = barOf(affordable[0] as Proposal, review);
  if (options.length === 0 && bar)
    return withheld('barred', `${wrong} Nothing is proposed: ${bar.message}`, { until: bar.until });
  return { kind: 'propose', goals: missed, options, message: summaryOf(options[0] as Proposal) };
}

function whileMet(review: Review, goals: GoalDiagnosis[]): Finding {
  const found = improvementFor(review, goals);
  if (!('option' in found)) return quiet(found.because, found.message, found.until);
  const { option } = found;
  const idea = `${metText(goals)} ${option.sentences[1]}`;
  const pause = pauseOf(review);
  if (pause) return quiet(pause.because, `${idea} ${pause.message}`, pause.until);
  const exceeded = exceededBudget(option, review);
  if (exceeded) return quiet('budget', `${idea} Nothing is proposed: ${exceeded}.`);
  const bar = barOf(option, review);
  if (bar) return quiet('barred', `${idea} Nothing is proposed: ${bar.message}`, bar.until);
  return { kind: 'propose', goals, options: [option], message: summaryOf(option) };
}

/** Whether a plan that made things worse may be taken back at this moment. */
export function mayRevert({ policy, isChanging, now }: Pick<Situation, 'policy' | 'isChanging' | 'now'>): boolean {
  return policy.mode === 'recommend' && !isChanging && freezeEnd(policy, now) === undefined;
}

interface ProposalPause {
  because: 'observe' | 'open_plan' | 'freeze_window' | 'cooldown';
  message: string;
  until?: Date;
}

/** Returns why no plan may be written at this moment, whatever it would propose; undefined if one may. */
function pauseOf(review: Review): ProposalPause | undefined {
  const { policy, history, now } = review;
  if (policy.mode === 'observe')
    return { because: 'observe', message: 'The mode of the policy is observe, so nothing is proposed.' };
  if (history.hasOpenPlan)
    return { because: 'open_plan', message: 'An earlier plan waits for a decision or a rollout.' };
  const frozenUntil = freezeEnd(policy, now);
  if (frozenUntil)
    return {
      because: 'freeze_window',
      message: `A freeze window ends at ${frozenUntil.toISOString()}.`,
      until: frozenUntil,
    };
  const cooledAt = cooldownEnd(review);
  return cooledAt && { because: 'cooldown', message: cooldownText(review, cooledAt), until: cooledAt };
}

/** The text of a plan: what is wrong, what to change, what will be different. */
export function summaryOf({ sentences }: Proposal): string {
  return sentences.join(' ');
}

function quiet(because: QuietReason, message: string, until?: Date): Finding {
  return { kind: 'quiet', because, message, ...(until ? { until } : {}) };
}

/** Returns when the latest freeze window that contains this moment ends. */
function freezeEnd({ reliability }: PolicyContent, now: Date): Date | undefined {
  const ends = reliability.freeze_windows
    .filter(({ start, end }) => Date.parse(start) <= now.getTime() && now.getTime() < Date.parse(end))
    .map(({ end }) => Date.parse(end));
  return ends.length === 0 ? undefined : new Date(Math.max(...ends));
}

function cooldownEnd({ history, policy, now }: Situation): Date | undefined {
  const end = (history.lastProposedAt?.getTime() ?? -Infinity) + policy.promotion.cooldown_seconds * 1_000;
  return now.getTime() < end ? new Date(end) : undefined;
}

function cooldownText({ policy }: Situation, until: Date): string {
  return `promotion.cooldown_seconds is ${durationText(policy.promotion.cooldown_seconds)}, so the next plan is possible at ${until.toISOString()}.`;
}

import type { Plan } from '../../api/items.js';

export type Evidence = Plan['evidence'][number];
export type PlanChange = Plan['changes'][number];
type Person = { type: string; id: string };

/** The allowed difference of a given delta from that of the given values, in percent points, because authors round. */
const ROUNDING = 1;
const LONGEST = 2_000;

export interface Delta {
  percent: number;
  /** The delta of the values if the author's differs. */
  computed: number | null;
}

/**
 * Returns the change from the baseline to the candidate. An author can claim anything, so their values are checked too.
 */
export function deltaOf({ baseline, candidate, delta_percent: given }: Evidence): Delta | null {
  const [from, to] = [baseline?.value ?? null, candidate?.value ?? null];
  const computed = from === null || to === null || from === 0 ? null : ((to - from) / Math.abs(from)) * 100;
  if (given === null || given === undefined) return computed === null ? null : { percent: computed, computed: null };
  const agrees = computed === null || Math.abs(computed - given) <= ROUNDING;
  return { percent: given, computed: agrees ? null : computed };
}

export const percentText = (percent: number): string =>
  `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${comparedNumberText(Math.abs(percent))} %`;

/** Enough digits for a comparison. */
export const comparedNumberText = (value: number): string => String(Number(value.toPrecision(4)));

/** Formats a value of a spec, on one line if it is short, and never longer than a person wants to read. */
export function specValueText(value: unknown): string {
  if (value === undefined) return '';
  const line = JSON.stringify(value);
  const text = line.length > 60 ? JSON.stringify(value, null, 2) : line;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Returns why this person cannot approve it now; null if they can, as far as the console knows. */
export function whyNotApprovable(plan: Plan, who: Person): string | null {
  const ended = whyOver(plan);
  if (ended) return ended;
  if (plan.approval.state === 'approved') return 'It is already approved.';
  if (who.type !== 'person') return 'A person must approve it. You are signed in as a service.';
  if (plan.approval.approvals.some(({ by }) => isSame(by.owner, who)))
    return 'You have approved it. Other people must approve it too.';
  return null;
}

export function whyNotExecutable(plan: Plan): string | null {
  return whyOver(plan) ?? (plan.approval.state === 'approved' ? null : 'It is not approved yet.');
}

/** Whether the person has made the plan themselves: its policy decides whether they may approve it. */
export const isOwnPlan = (plan: Plan, who: Person): boolean => isSame(plan.created_by.owner, who);

function whyOver({ approval: { state }, stale, expires_at }: Plan): string | null {
  if (state === 'rejected') return 'It was rejected.';
  if (stale || state === 'superseded')
    return 'It is based on a revision that is no longer active, possibly because it was rolled out.';
  return state === 'expired' || Date.parse(expires_at) <= Date.now() ? 'It has expired.' : null;
}

const isSame = (a: Person | null | undefined, b: Person): boolean => a?.type === b.type && a.id === b.id;

import type { DeploymentEvent, Operation } from '@slipway/sdk';
import { remedyOf } from '../remedies.js';

/** A check of a gate: its requirement, and the measured values at its last evaluation. */
export interface GateCheck {
  metric: string;
  stat: string;
  check: string;
  /** The threshold, the percentage by which the candidate may be worse, or the share that it may have more. */
  limit: number | null;
  candidate: number | null;
  baseline: number | null;
  samples: number | null;
  /** Empty until the first evaluation. */
  verdict: string;
}

export interface Share {
  revision: string;
  weight: number;
}

/** The known state of a watched operation. */
export interface OperationProgress {
  operation: Operation;
  traffic: readonly Share[];
  checks: readonly GateCheck[];
  /** The step that was judged last. */
  judgedStep: string;
  news: readonly News[];
}

export interface News {
  at: string;
  text: string;
  /** The message of the event. The record often has the same one. */
  message?: string;
}

const MOST_NEWS = 50;
const MOST_CHECKS = 20;

export const firstSight = (operation: Operation): OperationProgress => ({
  operation,
  traffic: [],
  checks: checksAsked(operation),
  judgedStep: '',
  news: [],
});

/** Takes over the current record. */
export const withOperation = (sight: OperationProgress, operation: Operation): OperationProgress => ({
  ...sight,
  operation,
  checks: sight.checks.length > 0 ? sight.checks : checksAsked(operation),
});

export const withNews = (
  sight: OperationProgress,
  text: string,
  { at = new Date().toISOString(), message }: Partial<News> = {},
): OperationProgress => ({
  ...sight,
  news: [...sight.news, { at, text, ...(message && { message }) }].slice(-MOST_NEWS),
});

/**
 * The text of a piece of news, without a message that the view shows elsewhere: in a step, or as the error with which
 * the operation ends.
 */
export function newsText({ operation }: OperationProgress, { text: title, message }: News): string {
  if (message === undefined) return title;
  const { steps = [], message: own } = operation;
  const isShown = [own, ...steps.map((step) => step.message)].some((one) => isSameText(one, message));
  return isShown ? title : `${title} ${remedyOf(message)}`;
}

/** Whether one text says all that the other does. */
export function isSameText(whole: unknown, part: unknown): boolean {
  const [of = '', one = ''] = [whole, part].map((words) => text(words).trim().replace(/\.$/, ''));
  return one !== '' && of.includes(one);
}

/** Applies an event: a record shows traffic and measurements only after a step has ended. */
export function withEvent(sight: OperationProgress, { type, time, data }: DeploymentEvent): OperationProgress {
  const told = (text: string, more: Partial<OperationProgress> = {}): OperationProgress =>
    withNews({ ...sight, ...more }, text, { at: time });
  if (type === 'route.updated') {
    const traffic = listOf(data['targets']).map((one) => ({
      revision: text(one['revision']),
      weight: number(one['weight']) ?? 0,
    }));
    return told(`traffic: ${traffic.map((one) => `${one.revision} ${one.weight} %`).join(', ')}`, { traffic });
  }
  if (type === 'rollout.analysis_completed') {
    const checks = [...listOf(data['metrics']), ...listOf(data['guards'])].slice(0, MOST_CHECKS).map(checkOf);
    return told(`${text(data['step'])}: ${text(data['verdict'])}`, { checks, judgedStep: text(data['step']) });
  }
  // The record contains the steps.
  if (type === 'rollout.step_advanced' || type === 'operation.status_changed') return sight;
  // The operation ends with the message of its failure.
  const message = text(data['error_code']) ? '' : text(data['message']);
  const title = [type, text(data['revision']), message ? '' : text(data['reason'])].filter(Boolean).join(' ');
  return withNews(sight, title, { at: time, message });
}

/** The checks of the gate that the rollout was accepted with. */
function checksAsked({ result }: Operation): GateCheck[] {
  const gate = recordOf(recordOf(result)['gate']);
  const guards = listOf(gate['guards']).map((one) => ({ ...one, check: 'guard', stat: 'rate' }));
  return [...listOf(gate['metrics']), ...guards]
    .slice(0, MOST_CHECKS)
    .map((one: Record<string, unknown>) => ({
      ...checkOf({ ...one, metric: one['name'] }),
      limit: number(one['threshold']) ?? number(one['max_regression_percent']) ?? number(one['max_difference']),
    }));
}

function checkOf(one: Record<string, unknown>): GateCheck {
  const [candidate, baseline] = [recordOf(one['candidate']), recordOf(one['baseline'])];
  return {
    metric: text(one['metric']),
    stat: text(one['stat']),
    check: text(one['check']),
    limit: number(one['limit']),
    candidate: number(candidate['value']),
    baseline: number(baseline['value']),
    samples: number(candidate['samples']),
    verdict: text(one['verdict']),
  };
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(recordOf) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

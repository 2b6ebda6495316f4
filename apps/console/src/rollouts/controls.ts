import type { OperationVerb } from '../api/operation-action.js';
import { isLive, waitsForPerson, type Operation } from '../api/operation-state.js';
import { objectsOf, type JsonObject } from '../ui/text/json-shape.js';
import { lengthText } from '../ui/text/time-text.js';

export type ControlledOperation = Pick<
  Operation,
  'kind' | 'status' | 'retryable' | 'cancel_requested' | 'current_step' | 'steps' | 'waiting_for' | 'pause' | 'result'
>;
type Step = Operation['steps'][number];

/** The steps that a person may pass. */
const PASSABLE = ['soak', 'analyze', 'await_promotion'];
/** A pause holds a rollout before these. */
const HELD = ['hold_requests', 'shift_traffic', 'await_promotion', 'promote'];

const baseOf = ({ name }: Pick<Step, 'name'>): string => name.split(':')[0]!;
const numberOf = ({ name }: Pick<Step, 'name'>): number => Number(name.split(':')[1] ?? 0);
const isOpen = ({ status }: Step): boolean => ['pending', 'running', 'waiting'].includes(status);

/**
 * Returns what a person can do with the operation in its current state, as far as the console knows: the api also knows
 * whether a plan has fixed the steps. The most important comes first.
 */
export function verbsOf(operation: ControlledOperation): OperationVerb[] {
  const { status, retryable, cancel_requested, pause } = operation;
  if (status === 'failed') return retryable ? ['retry'] : [];
  if (!isLive(operation) || status === 'cancelling' || cancel_requested) return [];
  const needsPerson = waitsForPerson(operation);
  return [
    ...(pause || needsPerson ? (['resume'] as const) : []),
    ...promotionsOf(operation, needsPerson && !pause),
    ...(!pause && !needsPerson && canHold(operation) ? (['pause'] as const) : []),
    'cancel',
  ];
}

/** To resume a rollout that waits for a person passes its step, so it needs no promotion to the next one. */
function promotionsOf(operation: ControlledOperation, passesByResume: boolean): OperationVerb[] {
  const current = currentOf(operation);
  if (operation.kind !== 'rollout' || !current || !PASSABLE.includes(baseOf(current))) return [];
  const moves = operation.steps.some((step) => step.index > current.index && baseOf(step) === 'shift_traffic');
  return [...(passesByResume ? [] : (['promote'] as const)), ...(moves ? (['promote_fully'] as const) : [])];
}

const canHold = ({ kind, steps }: ControlledOperation): boolean =>
  kind === 'rollout' && steps.some((step) => isOpen(step) && HELD.includes(baseOf(step)));

const currentOf = ({ steps, current_step }: ControlledOperation): Step | undefined =>
  steps.find(({ name }) => name === current_step);

/**
 * Names what a promotion skips: the checks of the running step, or those of all steps that are left. An approval after
 * the running step stays.
 */
export function skippedBy(operation: ControlledOperation, isFull: boolean): string[] {
  const current = currentOf(operation);
  if (!current) return [];
  const left = operation.steps.filter((step) => step.index >= current.index && PASSABLE.includes(baseOf(step)));
  const numbers = [...new Set(left.map(numberOf))];
  return numbers.slice(0, isFull ? undefined : 1).flatMap((number) => {
    const bases = left.filter((step) => numberOf(step) === number).map(baseOf);
    return skippedStep(operation, number, { bases, isCurrent: number === numberOf(current), isFull });
  });
}

function skippedStep(
  { result }: ControlledOperation,
  number: number,
  { bases, isCurrent, isFull }: { bases: string[]; isCurrent: boolean; isFull: boolean },
): string[] {
  const step = stepsOf(result)[number - 1] ?? {};
  const { traffic_percent, soak_seconds, requires_approval } = step;
  const seconds = typeof soak_seconds === 'number' ? ` of ${lengthText(soak_seconds * 1000)}` : '';
  const parts = [
    bases.includes('soak') && (isCurrent ? 'the rest of the soak' : `the soak${seconds}`),
    bases.includes('analyze') && result['gate'] && 'the gate',
    bases.includes('await_promotion') && requires_approval !== true && 'the pause',
    bases.includes('await_promotion') && requires_approval === true && isFull && 'the approval',
  ].filter((one): one is string => typeof one === 'string');
  if (parts.length === 0) return [];
  const share = typeof traffic_percent === 'number' ? `At ${traffic_percent} % of the traffic` : `Step ${number}`;
  return [`${share}: ${parts.join(', ')}`];
}

/** The steps of a rollout's strategy, as its result shows them. */
const stepsOf = (result: Operation['result']): JsonObject[] => objectsOf(result['strategy_steps']);

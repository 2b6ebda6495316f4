import { actorText } from '../actors.js';
import { CliError, EXIT } from '../exit-codes.js';
import { harmless } from '../terminal.js';

/** The members of an operation or a deployment that say what it waits for. An older api has only `awaiting`. */
export interface Waiter {
  waiting_for?: string | null;
  awaiting?: string | null;
  pause?: { by?: object; reason?: string | null } | null;
}

type WaitingOperation = Waiter & { id: string; kind: string; resource_name: string };

interface Reason {
  why: string;
  isForPerson: boolean;
  /** The choices of a person, each with its verb of `slipway rollouts`. */
  choices: readonly (readonly [to: string, verb: string])[];
}

const REASONS: Record<string, Reason> = {
  soak: {
    why: 'a soak is running',
    isForPerson: false,
    choices: [
      ['end the soak as passed', 'promote'],
      ['hold the traffic where it is', 'pause'],
    ],
  },
  approval: {
    why: 'the next step needs the approval of a person',
    isForPerson: true,
    choices: [
      ['approve it', 'promote'],
      ['restore the previous route', 'abort'],
    ],
  },
  decision: {
    why: 'the gate has no clear result, so a person must decide',
    isForPerson: true,
    choices: [
      ['continue', 'promote'],
      ['restore the previous route', 'abort'],
    ],
  },
  resume: {
    why: 'the rollout is paused',
    isForPerson: true,
    choices: [
      ['continue', 'resume'],
      ['restore the previous route', 'abort'],
    ],
  },
  capacity: {
    why: 'its target has no capacity for its instances',
    isForPerson: false,
    choices: [['stop waiting', 'abort']],
  },
  traffic: {
    why: 'there are no requests to judge yet',
    isForPerson: false,
    choices: [
      ['continue without them', 'promote'],
      ['restore the previous route', 'abort'],
    ],
  },
};

/** @returns a word such as `approval`; a later api may have more of them */
export function waitingFor({ waiting_for: word, awaiting }: Waiter): string | undefined {
  if (word !== undefined) return word ?? undefined;
  return awaiting === 'pause' ? 'decision' : (awaiting ?? undefined);
}

const reasonOf = (waiter: Waiter): Reason | undefined => {
  const word = waitingFor(waiter);
  return word !== undefined && Object.hasOwn(REASONS, word) ? REASONS[word] : undefined;
};

export const needsPerson = (waiter: Waiter): boolean => reasonOf(waiter)?.isForPerson ?? false;

/** `To approve it: slipway rollouts resume chat`, a line for each choice. */
export function choicesOf(waiter: Waiter, deployment: string): string[] {
  return (reasonOf(waiter)?.choices ?? []).map(([to, verb]) => `To ${to}: slipway rollouts ${verb} ${deployment}`);
}

/** The reason for the wait, in words. */
export function whyOf(waiter: Waiter): string | undefined {
  const why = reasonOf(waiter)?.why ?? waitingFor(waiter);
  const { pause } = waiter;
  if (why === undefined || !pause || waitingFor(waiter) !== 'resume') return why;
  const by = actorText(pause.by);
  return [`${why}${by ? ` by ${by}` : ''}`, pause.reason].filter(Boolean).join(': ');
}

/** The lines for a person: what the operation waits for, and what to type. */
export function waitLines(operation: WaitingOperation): string[] {
  const why = whyOf(operation);
  return why === undefined ? [] : [`${operation.resource_name} waits: ${why}.`, ...typed(operation)];
}

/** The end of a wait that only a person can continue. */
export function personNeeded(operation: WaitingOperation): CliError {
  const [first = '', ...lines] = waitLines(operation);
  const again = `To wait again: slipway operations wait ${operation.id}`;
  return new CliError(first, EXIT.needsPerson, [...lines, again].map(harmless).join('\n  '));
}

/** Only a rollout has verbs of its own. */
function typed(operation: WaitingOperation): string[] {
  if (operation.kind === 'rollout') return choicesOf(operation, operation.resource_name);
  return needsPerson(operation) ? [`To continue: slipway operations resume ${operation.id}`] : [];
}

import type { Operation } from '@slipway/sdk';
import type { WaitReason } from '../api/operation-state.js';
import { shellLine } from '../ui/text/shell-line.js';

/** In the order of a filter: first the reasons that only a person ends. */
const NOUNS: Record<string, string> = {
  approval: 'approval',
  decision: 'a decision',
  resume: 'a person to resume it',
  soak: 'the end of a soak',
  traffic: 'requests to judge',
  capacity: 'capacity of the target',
} satisfies Record<WaitReason, string>;

/** `approval`: what comes after "waits for". A word of a later api stays as it is. */
export const waitNoun = (reason: string): string => NOUNS[reason] ?? reason.replaceAll('_', ' ');

export const WAIT_REASONS = Object.keys(NOUNS);

/** The choices of a filter in words. */
export const WAIT_NOUNS: Readonly<Record<string, string>> = NOUNS;

type WaitFacts = Pick<Operation, 'id' | 'kind' | 'resource_name' | 'waiting_for' | 'pause'>;

const SENTENCES: Partial<Record<string, string>> = {
  approval: 'A person must approve this step.',
  decision: 'The gate has no clear result. A person must decide whether the rollout continues.',
  resume: 'The rollout has reached a step that pauses. It continues when a person resumes it.',
  traffic: 'The gate has no requests to judge. Send requests through the gateway, or promote the step.',
  capacity: 'Instances wait for capacity of the target.',
} satisfies Partial<Record<WaitReason, string>>;

const PAUSED = 'The rollout is paused. The shares of the traffic stay as they are until a person resumes it.';

/** Explains a wait; undefined for one that ends by itself at a known time, and if there is none. */
export function waitSentence({ waiting_for, pause }: Pick<WaitFacts, 'waiting_for' | 'pause'>): string | undefined {
  if (pause) return PAUSED;
  return SENTENCES[waiting_for ?? ''];
}

/** The commands of `slipway rollouts` that end a wait. */
const COMMANDS: Partial<Record<string, string>> = {
  approval: 'promote',
  decision: 'promote',
  resume: 'resume',
  traffic: 'promote',
} satisfies Partial<Record<WaitReason, string>>;

/** Returns the line of the CLI that ends a wait; undefined if it ends by itself. */
export function waitCommand({ id, kind, resource_name, waiting_for, pause }: WaitFacts): string | undefined {
  const verb = pause ? 'resume' : COMMANDS[waiting_for ?? ''];
  if (!verb) return undefined;
  return kind === 'rollout'
    ? shellLine('slipway', 'rollouts', verb, resource_name)
    : shellLine('slipway', 'operations', 'resume', id);
}

/** The same for a deployment, which only knows what its current operation waits for. */
export function deploymentWaitCommand(name: string, waiting_for: string | null | undefined): string | undefined {
  const verb = COMMANDS[waiting_for ?? ''];
  return verb && shellLine('slipway', 'rollouts', verb, name);
}

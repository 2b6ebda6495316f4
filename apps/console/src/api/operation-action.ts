import { request as cancellation } from 'request:cancelOperation';
import { request as pause } from 'request:pauseOperation';
import { request as promotion } from 'request:promoteOperation';
import { request as resumption } from 'request:resumeOperation';
import { useSchemaForm } from '../forms/use-schema-form.js';
import { shellLine, type ActionCommands } from '../ui/text/shell-line.js';
import { useAction, type ActionOptions } from './action.js';
import { slipway } from './client.js';
import { CANCEL_OPERATION, PAUSE_OPERATION, PROMOTE_OPERATION, RESUME_OPERATION } from './decision-layouts.js';
import type { Operation } from './operation-state.js';

export type OperationVerb = 'resume' | 'promote' | 'promote_fully' | 'pause' | 'retry' | 'cancel';

interface OperationWords {
  /** On the button that opens the confirmation. */
  button: string;
  title: string;
  verb: string;
  dismissal: string;
  /** The toast after it. */
  done: string;
}

const WORDS: Record<OperationVerb, OperationWords> = {
  resume: {
    button: 'Resume',
    title: 'Resume this operation?',
    verb: 'Resume',
    dismissal: 'Cancel',
    done: 'Operation resumed',
  },
  promote: {
    button: 'Promote next step',
    title: 'Promote to the next step?',
    verb: 'Promote next step',
    dismissal: 'Cancel',
    done: 'Step passed',
  },
  promote_fully: {
    button: 'Promote fully',
    title: 'Promote to 100 %?',
    verb: 'Promote fully',
    dismissal: 'Cancel',
    done: 'Promotion to 100 % requested',
  },
  pause: { button: 'Pause', title: 'Pause this rollout?', verb: 'Pause', dismissal: 'Cancel', done: 'Rollout paused' },
  retry: { button: 'Retry', title: 'Retry this operation?', verb: 'Retry', dismissal: 'Cancel', done: 'Retry started' },
  cancel: {
    button: 'Cancel',
    title: 'Cancel this operation?',
    verb: 'Cancel operation',
    dismissal: 'Keep running',
    done: 'Cancellation requested',
  },
};

const APPROVAL: Partial<OperationWords> = {
  button: 'Approve step',
  title: 'Approve this step?',
  verb: 'Approve step',
  done: 'Step approved',
};
const END_BAKE: Partial<OperationWords> = {
  button: 'End bake',
  title: 'End this bake?',
  verb: 'End bake',
  done: 'End of the bake requested',
};
const ABORT: Partial<OperationWords> = {
  button: 'Abort',
  title: 'Abort this rollout?',
  verb: 'Abort rollout',
  done: 'Abort requested',
};

/** By kind of operation. */
const CANCELLATIONS: Partial<Record<string, Partial<OperationWords>>> = { rollout: ABORT, bake: END_BAKE };

/** The words for an action on an operation: its button, its confirmation and the toast after it. */
export function operationWords(
  verb: OperationVerb,
  { kind, waiting_for, pause: paused }: Pick<Operation, 'kind' | 'waiting_for' | 'pause'>,
): OperationWords {
  const isApproval = verb === 'resume' && waiting_for === 'approval' && !paused;
  const cancellation = verb === 'cancel' ? CANCELLATIONS[kind] : undefined;
  return { ...WORDS[verb], ...(isApproval && APPROVAL), ...cancellation };
}

/** The body of a request: both members are in some of the requests only. */
interface ControlBody {
  reason?: string;
  to?: 'next' | 'full';
}

const FORMS = {
  cancel: { request: cancellation, layout: CANCEL_OPERATION },
  pause: { request: pause, layout: PAUSE_OPERATION },
  resume: { request: resumption, layout: RESUME_OPERATION },
  promote: { request: promotion, layout: PROMOTE_OPERATION, fixed: { to: 'next' } },
  promote_fully: { request: promotion, layout: PROMOTE_OPERATION, fixed: { to: 'full' } },
};

/** The words after `slipway rollouts` that do the same. */
const ROLLOUT_WORDS = {
  resume: ['resume'],
  promote: ['promote'],
  promote_fully: ['promote', '--full'],
  pause: ['pause'],
  cancel: ['abort'],
} as const;

/** An action of a person on an operation, with its equivalent commands. A retry has no form. */
export function useOperationAction(
  verb: OperationVerb,
  operation: Operation,
  told: Pick<ActionOptions<void, unknown>, 'renews' | 'onDone'>,
) {
  const { request, layout, ...fixed } = verb === 'retry' ? FORMS.cancel : FORMS[verb];
  const form = useSchemaForm<ControlBody>(request, layout, fixed);
  const { body } = form;
  const action = useAction<void, unknown>({
    ...told,
    done: operationWords(verb, operation).done,
    run: () => send(verb, operation.id, body),
  });
  const route = verb === 'promote_fully' ? 'promote' : verb;
  const copied: ActionCommands = {
    curl: {
      method: 'POST',
      path: `/api/v1/operations/${operation.id}/${route}`,
      body: verb === 'retry' || Object.keys(body).length === 0 ? undefined : body,
    },
    cli: lineOf(verb, operation, body.reason),
  };
  return { action, copied, form: verb === 'retry' ? undefined : form };
}

function send(verb: OperationVerb, id: string, body: ControlBody): Promise<Operation> {
  const { operations } = slipway;
  if (verb === 'retry') return operations.retry(id);
  if (verb === 'cancel') return operations.cancel(id, body);
  if (verb === 'pause') return operations.pause(id, body);
  if (verb === 'resume') return operations.resume(id, { ...body });
  return operations.promote(id, body);
}

function lineOf(verb: OperationVerb, { id, kind, resource_name }: Operation, reason: string | undefined): string {
  const flags = [...(reason ? ['--reason', reason] : []), ...(verb === 'cancel' ? ['--yes'] : [])];
  if (kind !== 'rollout' || verb === 'retry') return shellLine('slipway', 'operations', verb, id, ...flags);
  const [word, ...options] = ROLLOUT_WORDS[verb];
  return shellLine('slipway', 'rollouts', word, resource_name, ...options, ...flags);
}

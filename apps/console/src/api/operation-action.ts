import type { BodyOf } from '@slipway/sdk';
import { request } from 'request:cancelOperation';
import { useSchemaForm } from '../forms/use-schema-form.js';
import type { ActionCommands } from '../ui/copy.js';
import { shellLine } from '../ui/text/shell-line.js';
import { useAction, type ActionOptions } from './action.js';
import { slipway } from './client.js';
import { CANCEL_OPERATION } from './decision-layouts.js';

export type OperationVerb = 'cancel' | 'retry' | 'resume';

interface OperationWords {
  title: string;
  verb: string;
  dismissal: string;
  done: string;
}

/** The title and the buttons of a confirmation, and the toast after it. */
export const OPERATION_WORDS: Record<OperationVerb, OperationWords> = {
  cancel: {
    title: 'Cancel this operation?',
    verb: 'Cancel operation',
    dismissal: 'Keep running',
    done: 'Cancellation requested',
  },
  retry: { title: 'Retry this operation?', verb: 'Retry', dismissal: 'Cancel', done: 'Retry started' },
  resume: { title: 'Resume this operation?', verb: 'Resume', dismissal: 'Cancel', done: 'Operation resumed' },
};

/** An action of a person on an operation, with its equivalent commands. Only a cancel sends the values of `form`. */
export function useOperationAction(
  verb: OperationVerb,
  id: string,
  told: Pick<ActionOptions<void, unknown>, 'renews' | 'onDone'>,
) {
  const form = useSchemaForm<NonNullable<BodyOf<'cancelOperation'>>>(request, CANCEL_OPERATION);
  const { body } = form;
  const given = verb === 'cancel' ? body.reason : undefined;
  const action = useAction<void, unknown>({
    ...told,
    done: OPERATION_WORDS[verb].done,
    run: () => (verb === 'cancel' ? slipway.operations.cancel(id, body) : slipway.operations[verb](id)),
  });
  const flags = verb === 'cancel' ? [...(given ? ['--reason', given] : []), '--yes'] : [];
  const copied: ActionCommands = {
    curl: { method: 'POST', path: `/api/v1/operations/${id}/${verb}`, body: given && { reason: given } },
    cli: shellLine('slipway', 'operations', verb, id, ...flags),
  };
  return { action, copied, form };
}

import { useState } from 'react';
import type { CopiedAction } from '../ui/copy.js';
import { shellLine } from '../ui/shell-line.js';
import { useAction, type ActionOptions } from './action.js';
import { slipway } from './client.js';

export type OperationVerb = 'cancel' | 'retry' | 'resume';

/** What a person does to an operation: how it is asked for, from here and by hand. A reason goes with a cancel alone. */
export function useOperationAction(
  verb: OperationVerb,
  id: string,
  told: Pick<ActionOptions<void, unknown>, 'renews' | 'done' | 'onDone'>,
) {
  const [reason, setReason] = useState('');
  const given = (verb === 'cancel' && reason.trim()) || undefined;
  const action = useAction<void, unknown>({
    ...told,
    run: () => (verb === 'cancel' ? slipway.operations.cancel(id, { reason: given }) : slipway.operations[verb](id)),
  });
  const flags = verb === 'cancel' ? [...(given ? ['--reason', given] : []), '--yes'] : [];
  const copied: CopiedAction = {
    curl: { method: 'POST', path: `/api/v1/operations/${id}/${verb}`, body: given && { reason: given } },
    cli: shellLine('slipway', 'operations', verb, id, ...flags),
  };
  return { action, copied, reason, setReason };
}

import type { Operation } from '@slipway/sdk';
import { useState } from 'react';
import { OPERATION_WORDS, useOperationAction, type OperationVerb } from '../../api/operation-action.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { SchemaForm } from '../../forms/schema-form.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { waitsForPerson } from '../../api/operation-state.js';

const EFFECTS: Record<OperationVerb, string> = {
  cancel: 'It stops at its next step and undoes its completed steps. A rollout restores the previous route.',
  retry: 'It continues at its first step that has not succeeded.',
  resume: 'It continues with its next step without further confirmation. Check the results of the gate first.',
};

/** The available actions for the operation in its current state. */
export function OperationActions({ operation }: { operation: Operation }) {
  const mayAct = useMay('operator');
  const [asked, setAsked] = useState<OperationVerb>();
  const { status, cancel_requested, retryable } = operation;
  if (!mayAct) return null;
  const isLive = ['pending', 'running', 'waiting'].includes(status);
  return (
    <>
      {waitsForPerson(operation) && (
        <Button kind="primary" onClick={() => setAsked('resume')}>
          Resume
        </Button>
      )}
      {status === 'failed' && retryable && (
        <Button kind="primary" onClick={() => setAsked('retry')}>
          Retry
        </Button>
      )}
      {isLive && !cancel_requested && (
        <Button kind="danger" onClick={() => setAsked('cancel')}>
          Cancel
        </Button>
      )}
      {asked && <VerbDialog verb={asked} operation={operation} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function VerbDialog({ verb, operation, onClose }: { verb: OperationVerb; operation: Operation; onClose: () => void }) {
  const words = OPERATION_WORDS[verb];
  const { id, kind, resource_name } = operation;
  const { action, copied, form } = useOperationAction(verb, id, {
    renews: [['operation', id], ['operations'], ['deployments'], ['deployment', resource_name]],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.title}
      verb={words.verb}
      dismissal={words.dismissal}
      isDangerous={verb === 'cancel'}
      isBusy={action.isPending}
      error={action.error}
      action={copied}
      onConfirm={() => action.mutate()}
    >
      <p className="text-sm">
        {kind} of <strong>{resource_name}</strong>. {EFFECTS[verb]}
      </p>
      {verb === 'cancel' && <SchemaForm form={form} attempt={action} />}
    </ConfirmDialog>
  );
}

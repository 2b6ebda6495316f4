import type { Operation } from '@slipway/sdk';
import { useState } from 'react';
import { useOperationAction, type OperationVerb } from '../../api/operation-action.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { SchemaForm } from '../../forms/schema-form.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { waitsForPerson } from '../../api/operation-state.js';

const VERBS: Record<OperationVerb, { word: string; title: string; what: string; done: string }> = {
  cancel: {
    word: 'Cancel it',
    title: 'Cancel this operation?',
    what: 'It stops at its next step and undoes what it has begun. A rollout puts the route back that it found.',
    done: 'It is being cancelled',
  },
  retry: {
    word: 'Try again',
    title: 'Try this operation again?',
    what: 'It goes on at its first step that has not succeeded.',
    done: 'It is being tried again',
  },
  resume: {
    word: 'Let it go on',
    title: 'Let this operation go on?',
    what: 'Nothing else will ask before its next step. Look at what the gate measured first.',
    done: 'It goes on',
  },
};

/** What can be done to an operation as it stands. */
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
          Go on
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
  const { word, title, what, done } = VERBS[verb];
  const { id, kind, resource_name } = operation;
  const { action, copied, form } = useOperationAction(verb, id, {
    renews: [['operation', id], ['operations'], ['deployments'], ['deployment', resource_name]],
    done,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={title}
      verb={word}
      isDangerous={verb === 'cancel'}
      isBusy={action.isPending}
      error={action.error}
      action={copied}
      onConfirm={() => action.mutate()}
    >
      <p className="text-sm">
        {kind} of <strong>{resource_name}</strong>. {what}
      </p>
      {verb === 'cancel' && <SchemaForm form={form} attempt={action} />}
    </ConfirmDialog>
  );
}

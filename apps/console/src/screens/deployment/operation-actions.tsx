import type { Operation } from '../../api/operation-state.js';
import { useOperationAction, type OperationVerb } from '../../api/operation-action.js';
import { SchemaForm } from '../../forms/schema-form.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { keyOf } from './renewal.js';

const WORDS: Record<OperationVerb, { title: string; verb: string; done: string }> = {
  cancel: { title: 'Cancel the operation', verb: 'Cancel it', done: 'It is being cancelled' },
  retry: { title: 'Try the operation again', verb: 'Try again', done: 'It goes on' },
  resume: { title: 'Let the operation go on', verb: 'Resume', done: 'It goes on' },
};

interface OperationActionDialogProps {
  action: OperationVerb;
  operation: Operation;
  isProduction: boolean;
  onClose: () => void;
}

export function OperationActionDialog({ action, operation, isProduction, onClose }: OperationActionDialogProps) {
  const { id, kind, resource_name } = operation;
  const words = WORDS[action];
  const {
    action: asked,
    copied,
    form,
  } = useOperationAction(action, id, {
    renews: ['deployment', 'operations', 'route'].map((what) => keyOf(what, resource_name)),
    done: words.done,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${words.title}: ${kind} of ${resource_name}`}
      verb={words.verb}
      isDangerous={action === 'cancel'}
      nameToType={isProduction ? resource_name : undefined}
      isBusy={asked.isPending}
      error={asked.error}
      action={copied}
      onConfirm={() => asked.mutate()}
    >
      <p className="text-sm">
        It stands at <code>{operation.current_step || 'its beginning'}</code>, {operation.progress} % done.
      </p>
      <Effect action={action} operation={operation} />
      {action === 'cancel' && <SchemaForm form={form} attempt={asked} />}
    </ConfirmDialog>
  );
}

function Effect({ action, operation: { kind, steps, current_step } }: { action: OperationVerb; operation: Operation }) {
  const open = steps.filter(({ status }) => status === 'pending' || status === 'failed').map(({ name }) => name);
  if (action === 'cancel')
    return (
      <p className="text-sm">
        {kind === 'rollback'
          ? 'A rollback that is cancelled never restores the revision that it was leading away from.'
          : 'The route is put back as the operation found it, and the candidate is removed. Steps that are done by then are undone.'}
      </p>
    );
  return (
    <p className="text-sm">
      {action === 'retry' ? (
        <>
          It goes on at <code>{current_step}</code>; what has succeeded is not done again.
        </>
      ) : (
        'You let it pass where it stopped. '
      )}{' '}
      Then come: <code>{open.slice(0, 40).join(' → ') || 'no further steps'}</code>
    </p>
  );
}

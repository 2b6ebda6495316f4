import type { Operation } from '../../api/operation-state.js';
import { OPERATION_WORDS, useOperationAction, type OperationVerb } from '../../api/operation-action.js';
import { SchemaForm } from '../../forms/schema-form.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { keyOf } from './renewal.js';

interface OperationActionDialogProps {
  action: OperationVerb;
  operation: Operation;
  isProduction: boolean;
  onClose: () => void;
}

export function OperationActionDialog({ action, operation, isProduction, onClose }: OperationActionDialogProps) {
  const { id, kind, resource_name } = operation;
  const { title, verb, dismissal } = OPERATION_WORDS[action];
  const {
    action: asked,
    copied,
    form,
  } = useOperationAction(action, id, {
    renews: ['deployment', 'operations', 'route'].map((what) => keyOf(what, resource_name)),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={title}
      verb={verb}
      dismissal={dismissal}
      isDangerous={action === 'cancel'}
      nameToType={isProduction ? resource_name : undefined}
      isBusy={asked.isPending}
      error={asked.error}
      action={copied}
      onConfirm={() => asked.mutate()}
    >
      <p className="text-sm">
        {kind} of <strong>{resource_name}</strong>, {operation.progress} %. Current step:{' '}
        <code>{operation.current_step || 'none yet'}</code>
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
          ? 'A cancelled rollback does not restore the revision that it moves traffic away from.'
          : 'The previous route is restored, and the candidate is removed. Completed steps are undone.'}
      </p>
    );
  return (
    <p className="text-sm">
      {action === 'retry' ? (
        <>
          The operation continues at <code>{current_step}</code>. Completed steps are not repeated.
        </>
      ) : (
        'The operation continues after the step where it waits.'
      )}{' '}
      Remaining steps: <code>{open.slice(0, 40).join(' → ') || 'none'}</code>
    </p>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Ban, Check, ChevronsRight, FastForward, Pause, Play, RotateCcw, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { isProduction } from '@slipway/sdk';
import { slipway } from '../api/client.js';
import { operationWords, useOperationAction, type OperationVerb } from '../api/operation-action.js';
import type { Operation } from '../api/operation-state.js';
import { useMay } from '../api/who.js';
import { SchemaForm } from '../forms/schema-form.js';
import { Button, type ButtonProps } from '../ui/button.js';
import { ConfirmDialog } from '../ui/dialogs/confirm-dialog.js';
import { skippedBy, verbsOf } from './controls.js';

const ICONS: Record<OperationVerb, LucideIcon> = {
  resume: Play,
  promote: ChevronsRight,
  promote_fully: FastForward,
  pause: Pause,
  retry: RotateCcw,
  cancel: Ban,
};
const KINDS: Partial<Record<OperationVerb, ButtonProps['kind']>> = {
  resume: 'primary',
  retry: 'primary',
  cancel: 'danger',
};

/** The buttons for what a person can do with the operation now, each with its confirmation. */
export function OperationControls({ operation }: { operation: Operation | undefined }) {
  const mayAct = useMay('operator');
  const [asked, setAsked] = useState<{ verb: OperationVerb; operation: Operation }>();
  if (!mayAct) return null;
  // A confirmation stays with its operation, and shows what would be skipped now, because its steps continue.
  const isSame = asked !== undefined && operation?.id === asked.operation.id;
  return (
    <>
      {operation &&
        verbsOf(operation).map((verb) => {
          const { button } = operationWords(verb, operation);
          const Icon = button === 'Approve step' ? Check : ICONS[verb];
          return (
            <Button
              key={verb}
              kind={KINDS[verb]}
              icon={<Icon aria-hidden className="size-4" />}
              onClick={() => setAsked({ verb, operation })}
            >
              {button}
            </Button>
          );
        })}
      {asked && (
        <ControlDialog
          verb={asked.verb}
          operation={isSame ? operation : asked.operation}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface ControlDialogProps {
  verb: OperationVerb;
  operation: Operation;
  onClose: () => void;
}

function ControlDialog({ verb, operation, onClose }: ControlDialogProps) {
  const { id, kind, resource_name, progress, current_step } = operation;
  const words = operationWords(verb, operation);
  const { action, copied, form } = useOperationAction(verb, operation, {
    renews: [
      ['operation', id],
      ['operations'],
      ['deployments'],
      ...['deployment', 'route', 'revisions'].map((what) => [what, resource_name]),
    ],
    onDone: onClose,
  });
  // A pause must be fast.
  const needsName = useIsProduction(operation) && verb !== 'pause';
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.title}
      verb={words.verb}
      dismissal={words.dismissal}
      isDangerous={verb === 'cancel' || verb === 'promote_fully'}
      nameToType={needsName ? resource_name : undefined}
      isBusy={action.isPending}
      error={action.error}
      action={copied}
      onConfirm={() => action.mutate()}
    >
      <p className="text-sm">
        {kind} of <strong className="wrap-anywhere">{resource_name}</strong>, {progress} %. Current step:{' '}
        <code>{current_step || 'none yet'}</code>
      </p>
      <p className="text-sm">{effectOf(verb, operation)}</p>
      <Skipped verb={verb} operation={operation} />
      {form && <SchemaForm form={form} attempt={action} />}
    </ConfirmDialog>
  );
}

/** Whether it concerns production. Until the environment of the deployment is known, it may be production. */
function useIsProduction({ resource_type, resource_name }: Operation): boolean {
  const isOfDeployment = resource_type === 'deployment';
  const { data } = useQuery({
    queryKey: ['deployment', resource_name],
    queryFn: ({ signal }) => slipway.deployments.get(resource_name, { signal }),
    enabled: isOfDeployment,
  });
  return isOfDeployment && (data?.environment === undefined || isProduction(data.environment));
}

function Skipped({ verb, operation }: { verb: OperationVerb; operation: Operation }) {
  if (verb !== 'promote' && verb !== 'promote_fully') return null;
  const skipped = skippedBy(operation, verb === 'promote_fully');
  if (skipped.length === 0) return null;
  return (
    <div className="rounded-md bg-warn-soft p-2 text-sm text-warn">
      <p className="font-medium">This skips:</p>
      <ul className="list-disc pl-5">
        {skipped.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </div>
  );
}

function effectOf(verb: OperationVerb, { kind, waiting_for, pause }: Operation): string {
  if (verb === 'cancel' && kind === 'rollout')
    return 'The previous route is restored, and the candidate is removed. Completed steps are undone.';
  if (verb === 'cancel' && kind === 'rollback')
    return 'A cancelled rollback does not restore the revision that it moves traffic away from.';
  if (verb === 'cancel' && kind === 'bake')
    return 'Nothing watches the revision any more. The traffic does not change.';
  if (verb === 'cancel') return 'It stops at its next step and undoes its completed steps.';
  if (verb === 'retry')
    return 'It continues at its first step that has not succeeded. Completed steps are not repeated.';
  if (verb === 'pause')
    return 'The shares of the traffic stay as they are, and the time of a soak stops. A breach of the gate still ends the rollout.';
  if (verb === 'promote') return 'The running step ends as passed by a person, and the next step begins.';
  if (verb === 'promote_fully') return 'All traffic goes to the candidate, which becomes the active revision.';
  if (pause) return 'It continues where it was paused, with the rest of its soak.';
  if (waiting_for === 'decision') return 'The step counts as passed. Check the results of the gate first.';
  if (waiting_for === 'approval') return 'The step counts as approved, and the rollout continues with the next one.';
  return 'It continues with its next step.';
}

import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { SandboxReference } from '../../api/items.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { revokeAction } from './reference-action.js';

export function RevokeReference({ reference, onClose }: { reference: SandboxReference; onClose: () => void }) {
  const { id, external_id } = reference;
  const revoke = useAction({
    run: () => slipway.sandboxes.references.revoke(id),
    renews: [['sandbox-references'], ['sandboxes']],
    done: ({ external_sandbox_changed }) =>
      external_sandbox_changed
        ? `${external_id} is revoked`
        : `${external_id} is revoked; the external sandbox was not changed`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke the reference to ${external_id}?`}
      verb="Revoke"
      isDangerous
      isBusy={revoke.isPending}
      error={revoke.error}
      action={revokeAction(id)}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p className="text-sm">
        Slipway erases its credential and passes no more files on; what is being sent is cut.{' '}
        <strong>The external sandbox is not changed</strong>: what it has stays there, and its provider still takes the
        credential. Files here stay readable.
      </p>
    </ConfirmDialog>
  );
}

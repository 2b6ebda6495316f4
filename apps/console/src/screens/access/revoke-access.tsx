import { useAction } from '../../api/action.js';
import type { AccessMapping } from '../../api/items.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { LastAdminNote } from '../../ui/last-admin-note.js';
import { accessAction, type Access } from './access-action.js';
import { setAccess } from './set-access.js';

export function RevokeAccess({ mapping, onClose }: { mapping: AccessMapping; onClose: () => void }) {
  const { provider, external_organization_id, external_user_id, display_name } = mapping;
  const who = display_name ?? external_user_id;
  const body: Access = { provider, external_organization_id, external_user_id, access: false };
  const revoke = useAction({
    run: () => setAccess(body),
    renews: [['console-access']],
    done: `${who} has no access any more`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke the access of ${who}?`}
      verb="Revoke"
      isDangerous
      isBusy={revoke.isPending}
      error={revoke.error}
      action={accessAction(body)}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p>
        {who} of {external_organization_id} is refused from the next request on; event streams that are open end. It can
        be granted again.
      </p>
      <LastAdminNote error={revoke.error} />
    </ConfirmDialog>
  );
}

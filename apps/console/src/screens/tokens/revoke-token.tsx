import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Token } from '../../api/items.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { ownerText } from '../../ui/text/owner-text.js';
import { LastAdminNote } from '../../ui/last-admin-note.js';
import { shellLine } from '../../ui/text/shell-line.js';

export function RevokeToken({ token, isOwn, onClose }: { token: Token; isOwn: boolean; onClose: () => void }) {
  const revoke = useAction({
    run: () => slipway.tokens.revoke(token.id),
    renews: [['tokens']],
    done: `Token ${token.name} revoked`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke token ${token.name}?`}
      verb="Revoke"
      isDangerous
      isBusy={revoke.isPending}
      error={revoke.error}
      action={{
        curl: { method: 'DELETE', path: `/api/v1/tokens/${encodeURIComponent(token.id)}` },
        cli: shellLine('slipway', 'tokens', 'revoke', token.id, '--yes'),
      }}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p>The next request with this token of {ownerText(token.owner)} is rejected. You cannot undo this.</p>
      {isOwn && (
        <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          You are signed in with this token. Revoking it also ends your own session.
        </p>
      )}
      <LastAdminNote error={revoke.error} />
    </ConfirmDialog>
  );
}

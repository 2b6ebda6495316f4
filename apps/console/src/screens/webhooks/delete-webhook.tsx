import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Webhook } from '../../api/items.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { shellLine } from '../../ui/text/shell-line.js';

interface DeleteWebhookProps {
  webhook: Webhook;
  onClose: () => void;
  onDeleted: () => void;
}

export function DeleteWebhook({ webhook, onClose, onDeleted }: DeleteWebhookProps) {
  const remove = useAction({
    run: () => slipway.webhooks.delete(webhook.id),
    renews: [['webhooks']],
    done: 'Webhook deleted',
    onDone: () => {
      onDeleted();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Delete this webhook?"
      verb="Delete"
      isDangerous
      isBusy={remove.isPending}
      error={remove.error}
      action={{
        curl: { method: 'DELETE', path: `/api/v1/webhooks/${encodeURIComponent(webhook.id)}` },
        cli: shellLine('slipway', 'webhooks', 'delete', webhook.id, '--yes'),
      }}
      onConfirm={() => remove.mutate(undefined)}
    >
      <p>
        <span className="font-medium break-all">{webhook.url}</span> receives no more events, and pending deliveries are
        not sent. The deliveries and the secret of the webhook are deleted.
      </p>
    </ConfirmDialog>
  );
}

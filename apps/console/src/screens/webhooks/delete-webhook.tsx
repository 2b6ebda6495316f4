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
    done: 'The webhook is deleted',
    onDone: () => {
      onDeleted();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Delete the webhook?"
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
        <span className="font-medium break-all">{webhook.url}</span> is told of nothing any more. What was not sent yet
        is not sent; its deliveries and its secret are gone with it.
      </p>
    </ConfirmDialog>
  );
}

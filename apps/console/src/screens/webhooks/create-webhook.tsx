import type { BodyOf } from '@slipway/sdk';
import { request } from 'request:createWebhook';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { useOpener } from '../../ui/dialogs/dialog.js';
import { SecretDialog } from '../../ui/dialogs/secret-dialog.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { CREATE_WEBHOOK } from './create-layout.js';

export function CreateWebhook({ onClose }: { onClose: () => void }) {
  const form = useSchemaForm<BodyOf<'createWebhook'>>(request, CREATE_WEBHOOK);
  const opener = useOpener();
  const create = useAction({
    run: (body: BodyOf<'createWebhook'>) => slipway.webhooks.create(body),
    renews: [['webhooks']],
  });
  if (create.data)
    return (
      <SecretDialog
        title="Webhook created"
        name="secret"
        secret={create.data.secret}
        onClose={onClose}
        returnTo={opener}
      >
        <p className="text-sm">
          Every request to <span className="break-all">{create.data.url}</span> is signed with this secret, as
          standard-webhooks.com describes (HMAC-SHA256). The receiver needs it to verify requests from Slipway.
        </p>
      </SecretDialog>
    );

  return (
    <SchemaDialog
      form={form}
      run={create}
      title="New webhook"
      description="Slipway posts new events to the webhook as CloudEvents, at least once and in order."
      verb="Create"
      onClose={onClose}
      action={actionOf(form.body)}
    />
  );
}

function actionOf(body: BodyOf<'createWebhook'>) {
  const words = ['slipway', 'webhooks', 'create', body.url ?? ''];
  if (body.event_types) words.push('--event-types', body.event_types.join(','));
  if (body.deployments) words.push('--deployments', body.deployments.join(','));
  if (body.description) words.push('--description', body.description);
  return { curl: { method: 'POST', path: '/api/v1/webhooks', body }, cli: shellLine(...words) };
}

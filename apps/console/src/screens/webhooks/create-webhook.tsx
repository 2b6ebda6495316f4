import type { BodyOf } from '@slipway/sdk';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { useOpener } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { wordsOf } from '../../ui/listed-text.js';
import { SecretDialog } from '../../ui/secret-dialog.js';
import { shellLine } from '../../ui/shell-line.js';

export function CreateWebhook({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState('');
  const [types, setTypes] = useState('');
  const [deployments, setDeployments] = useState('');
  const [description, setDescription] = useState('');
  const opener = useOpener();
  const create = useAction({
    run: (body: BodyOf<'createWebhook'>) => slipway.webhooks.create(body),
    renews: [['webhooks']],
  });
  if (create.data)
    return (
      <SecretDialog
        title="The webhook is there"
        name="secret"
        secret={create.data.secret}
        onClose={onClose}
        returnTo={opener}
      >
        <p className="text-sm">
          Every request to <span className="break-all">{create.data.url}</span> is signed with it, as
          standard-webhooks.com describes (HMAC-SHA256): the receiver needs it to tell our requests from others.
        </p>
      </SecretDialog>
    );

  const [event_types, names] = [wordsOf(types), wordsOf(deployments)];
  const body: BodyOf<'createWebhook'> = {
    url: url.trim(),
    ...(event_types.length > 0 && { event_types }),
    ...(names.length > 0 && { deployments: names }),
    ...(description.trim() && { description: description.trim() }),
  };
  return (
    <FormDialog
      title="Create a webhook"
      description="Events from now on are posted to it as CloudEvents, at least once and in order."
      verb="Create"
      onClose={onClose}
      isComplete={body.url !== ''}
      isBusy={create.isPending}
      error={create.error}
      action={actionOf(body)}
      onSubmit={() => create.mutate(body)}
    >
      <TextField
        label="URL"
        autoFocus
        hint="https and a public address, or what the operator allows for webhooks. Redirects are not followed."
        required
        type="url"
        maxLength={2048}
        autoComplete="off"
        placeholder="https://hooks.example.com/slipway"
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextField
        label="Event types"
        hint="Such as rollout.* or route.updated, by commas. All where it is left empty."
        autoComplete="off"
        spellCheck={false}
        value={types}
        onChange={(event) => setTypes(event.target.value)}
      />
      <TextField
        label="Deployments"
        hint="By commas. Everything of the tenant where it is left empty."
        autoComplete="off"
        spellCheck={false}
        value={deployments}
        onChange={(event) => setDeployments(event.target.value)}
      />
      <TextField
        label="Description"
        maxLength={2000}
        autoComplete="off"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
    </FormDialog>
  );
}

function actionOf(body: BodyOf<'createWebhook'>) {
  const words = ['slipway', 'webhooks', 'create', body.url];
  if (body.event_types) words.push('--event-types', body.event_types.join(','));
  if (body.deployments) words.push('--deployments', body.deployments.join(','));
  if (body.description) words.push('--description', body.description);
  return { curl: { method: 'POST', path: '/api/v1/webhooks', body }, cli: shellLine(...words) };
}

import type { BodyOf } from '@slipway/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { TextArea, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { shellLine } from '../../ui/shell-line.js';
import { bytesOf, labelsOf } from './file-names.js';

type NewSandbox = BodyOf<'createSandbox'>;

export function CreateSandbox({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [fields, setFields] = useState({ labels: '', bytes_limit: '', expires_at: '' });
  const create = useAction({
    run: (body: NewSandbox) => slipway.sandboxes.create(body),
    renews: [['sandboxes']],
    done: 'The sandbox is there',
    onDone: ({ id }) => void navigate({ to: '/sandboxes/$id', params: { id } }),
  });
  const labels = labelsOf(fields.labels);
  const bytes = fields.bytes_limit === '' ? undefined : bytesOf(fields.bytes_limit);
  const isRoomWrong = fields.bytes_limit !== '' && bytes === undefined;
  const body: NewSandbox = {
    ...(labels && Object.keys(labels).length > 0 && { labels }),
    ...(bytes !== undefined && { workspace: { bytes_limit: bytes } }),
    ...(fields.expires_at !== '' && { expires_at: new Date(fields.expires_at).toISOString() }),
  };
  return (
    <FormDialog
      title="New sandbox"
      description="A durable workspace for files; Slipway runs nothing in it."
      verb="Create"
      onClose={onClose}
      isComplete={labels !== undefined && !isRoomWrong}
      isBusy={create.isPending}
      error={create.error}
      action={{ curl: { method: 'POST', path: '/api/v1/sandboxes', body }, cli: cliOf(body) }}
      onSubmit={() => create.mutate(body)}
    >
      <TextArea
        label="Labels"
        rows={2}
        placeholder="team=search, tier=1"
        maxLength={20_000}
        fault={labels ? undefined : 'Each one is name=value.'}
        value={fields.labels}
        onChange={(event) => setFields({ ...fields, labels: event.target.value })}
      />
      <TextField
        label="Room for files"
        placeholder="512 MiB"
        hint="The installation's highest unless said."
        maxLength={24}
        fault={isRoomWrong ? 'A number of bytes, such as 512 MiB.' : undefined}
        value={fields.bytes_limit}
        onChange={(event) => setFields({ ...fields, bytes_limit: event.target.value })}
      />
      <TextField
        label="Expires"
        type="datetime-local"
        hint="In this browser's time. From then on the sandbox and its files are gone; never, unless said."
        value={fields.expires_at}
        onChange={(event) => setFields({ ...fields, expires_at: event.target.value })}
      />
    </FormDialog>
  );
}

function cliOf({ labels, workspace, expires_at }: NewSandbox): string {
  const pairs = Object.entries(labels ?? {}).map((pair) => pair.join('='));
  return shellLine(
    ...['slipway', 'sandboxes', 'create'],
    ...(pairs.length > 0 ? ['--labels', pairs.join(',')] : []),
    ...(workspace ? ['--workspace', JSON.stringify(workspace)] : []),
    ...(expires_at ? ['--expires-at', expires_at] : []),
  );
}

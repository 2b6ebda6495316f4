import type { BodyOf } from '@slipway/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from 'request:createSandbox';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import type { Path } from '../../forms/schema.js';
import { useSchemaForm, type SchemaFormState } from '../../forms/use-schema-form.js';
import { TextField } from '../../ui/field.js';
import { pairsText } from '../../ui/text/listed-text.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { bytesOf } from './file-names.js';
import { CREATE_SANDBOX } from './layouts.js';

type NewSandbox = BodyOf<'createSandbox'>;

export function CreateSandbox({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const form = useSchemaForm<NewSandbox>(request, CREATE_SANDBOX);
  const create = useAction({
    run: (body: NewSandbox) => slipway.sandboxes.create(body),
    renews: [['sandboxes']],
    done: 'Sandbox created',
    onDone: ({ id }) => void navigate({ to: '/sandboxes/$id', params: { id } }),
  });
  return (
    <SchemaDialog
      form={form}
      run={create}
      title="New sandbox"
      description="A sandbox is a durable workspace for files. Slipway runs nothing in it."
      verb="Create"
      onClose={onClose}
      action={{ curl: { method: 'POST', path: '/api/v1/sandboxes', body: form.body }, cli: cliOf(form.body) }}
      widgets={{ workspace: (path) => <CapacityField form={form} path={[...path, 'bytes_limit']} /> }}
    />
  );
}

/** A field for a number of bytes in people's notation; an unreadable text stays, so that the schema refuses it. */
function CapacityField({ form, path }: { form: SchemaFormState<NewSandbox>; path: Path }) {
  const [text, setText] = useState('');
  const change = (typed: string) => {
    setText(typed);
    form.change(path, String(bytesOf(typed) ?? typed));
  };
  return (
    <TextField
      label="Capacity"
      placeholder="512 MiB"
      hint="Default: the maximum of the installation."
      maxLength={24}
      fault={form.faultAt(path) && 'A number of bytes, such as 512 MiB.'}
      value={text}
      onChange={(event) => change(event.target.value)}
    />
  );
}

function cliOf({ labels, workspace, expires_at, provider, reference_id }: NewSandbox): string {
  const pairs = pairsText(labels ?? {});
  return shellLine(
    ...['slipway', 'sandboxes', 'create'],
    ...(pairs ? ['--labels', pairs] : []),
    ...(workspace ? ['--workspace', JSON.stringify(workspace)] : []),
    ...(expires_at ? ['--expires-at', expires_at] : []),
    ...(provider ? ['--provider', provider] : []),
    ...(reference_id ? ['--reference', reference_id] : []),
  );
}

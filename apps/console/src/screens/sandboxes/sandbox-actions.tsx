import { useState } from 'react';
import { request as creation } from 'request:createSandbox';
import { request as deletion } from 'request:deleteSandbox';
import { request as fileDeletion } from 'request:deleteSandboxFile';
import { request as change } from 'request:updateSandbox';
import { defineAction, type Action } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { Sandbox, SandboxFile } from '../../api/items.js';
import type { Path } from '../../forms/schema.js';
import type { SchemaFormState } from '../../forms/use-schema-form.js';
import { TextField } from '../../ui/field.js';
import { bytesOf, bytesText } from './file-names.js';
import { CREATE_SANDBOX, UPDATE_SANDBOX } from './layouts.js';

const widgets = (form: SchemaFormState<unknown>) => ({
  workspace: (path: Path) => <CapacityField form={form} path={[...path, 'bytes_limit']} />,
});

/** A field for a number of bytes in people's notation; an unreadable text stays, so that the schema refuses it. */
function CapacityField({ form, path }: { form: SchemaFormState<unknown>; path: Path }) {
  const [text, setText] = useState(() => {
    const bytes = Number(form.at(path));
    return bytes > 0 && bytesOf(bytesText(bytes)) === bytes ? bytesText(bytes) : String(form.at(path) ?? '');
  });
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

export const createSandbox = (onCreated: (id: string) => void): Action =>
  defineAction<'createSandbox'>()({
    request: creation,
    verb: 'Create',
    button: 'Create sandbox',
    title: () => 'New sandbox',
    description: 'A sandbox is a durable workspace for files. Slipway runs nothing in it.',
    layout: () => CREATE_SANDBOX,
    widgets,
    cli: { words: 'sandboxes create', flags: { reference_id: '--reference' } },
    run: (_, body) => slipway.sandboxes.create(body),
    done: () => 'Sandbox created',
    onDone: ({ id }) => onCreated(id),
  });

export const sandboxActions = (onDeleted?: () => void): Action<Sandbox>[] => [
  defineAction<'updateSandbox'>()<Sandbox>({
    request: change,
    verb: 'Save',
    button: 'Edit',
    title: ({ id }) => `Edit sandbox ${id}`,
    layout: () => UPDATE_SANDBOX,
    value: (sandbox) => sandbox,
    isPatch: true,
    widgets,
    etag: ({ etag }) => etag,
    cli: { words: 'sandboxes update' },
    run: ({ id }, body, options) => slipway.sandboxes.update(id, body, options),
    done: () => 'Sandbox changed',
  }),
  defineAction<'deleteSandbox'>()<Sandbox>({
    request: deletion,
    verb: 'Delete',
    isDangerous: true,
    title: ({ id }) => `Delete sandbox ${id}?`,
    nameToType: ({ id, workspace }) => (workspace.file_count > 0 ? id : undefined),
    effect: ({ workspace, reference_id }) => (
      <p>
        {workspace.file_count === 1 ? 'Its file is' : `Its ${workspace.file_count} files are`} deleted with it. You
        cannot undo this.
        {reference_id && ' The external sandbox is not changed, and the reference to it stays.'}
      </p>
    ),
    cli: { words: 'sandboxes delete', end: '--yes' },
    run: ({ id }) => slipway.sandboxes.delete(id),
    done: () => 'Sandbox deleted',
    onDone: onDeleted,
  }),
];

export const fileActions = (sandbox: string): Action<SandboxFile>[] => [
  defineAction<'deleteSandboxFile'>()<SandboxFile>({
    request: { ...fileDeletion, path: `${fileDeletion.path}?path={path}` },
    verb: 'Delete',
    isDangerous: true,
    title: ({ path }) => `Delete ${path}?`,
    effect: () => <p>An external sandbox that has the file keeps it. You cannot undo this.</p>,
    ids: ({ path }) => [sandbox, path],
    cli: { words: 'files delete', end: '--yes' },
    run: ({ path }) => slipway.sandboxes.files.delete(sandbox, path),
    done: ({ path }) => `${path} deleted`,
  }),
];

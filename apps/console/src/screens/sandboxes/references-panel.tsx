import type { Page, BodyOf } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { slipway } from '../../api/client.js';
import type { SandboxReference } from '../../api/items.js';
import { usePagedList, type PageRequest } from '../../api/paged-list.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { RowList } from '../../ui/row-list.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { request } from 'request:createSandboxReference';
import { useAction } from '../../api/action.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { CREATE_REFERENCE } from './layouts.js';
import { referenceAction, revokeAction } from './reference-action.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';

function RevokeReference({ reference, onClose }: { reference: SandboxReference; onClose: () => void }) {
  const { id, external_id } = reference;
  const revoke = useAction({
    run: () => slipway.sandboxes.references.revoke(id),
    renews: [['sandbox-references'], ['sandboxes']],
    done: ({ external_sandbox_changed }) =>
      external_sandbox_changed
        ? `${external_id} revoked`
        : `${external_id} revoked. The external sandbox was not changed.`,
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
        Slipway erases its credential, stops transfers in progress and sends no more files.{' '}
        <strong>The external sandbox is not changed</strong>: it keeps its files, and its provider still accepts the
        credential. Files stored here stay readable.
      </p>
    </ConfirmDialog>
  );
}

type NewReference = BodyOf<'createSandboxReference'>;

function CreateReference({ onClose }: { onClose: () => void }) {
  const form = useSchemaForm<NewReference>(request, CREATE_REFERENCE, { value: { provider: 'custom' } });
  const create = useAction({
    run: (body: NewReference) => slipway.sandboxes.references.create(body),
    renews: [['sandbox-references'], ['sandboxes']],
    done: ({ external_id }) => `${external_id} registered`,
    onDone: onClose,
  });
  return (
    <SchemaDialog
      form={form}
      run={create}
      title="New external sandbox"
      description="Registering creates a sandbox whose files are sent to the external sandbox. It sends nothing yet and does not change the external sandbox."
      verb="Register"
      onClose={onClose}
      action={referenceAction(form.body)}
    />
  );
}

const CLI = 'slipway references create box-1 --provider custom --base-url http://127.0.0.1:9000 --credential-file -';

export function ReferencesPanel() {
  const mayChange = useMay('operator');
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<SandboxReference>();
  const list = usePagedList<SandboxReference>(
    ['sandbox-references'],
    (page: PageRequest): PromiseLike<Page<SandboxReference>> => slipway.sandboxes.references.list(page),
  );
  return (
    <Panel
      title="References to external sandboxes"
      actions={
        mayChange && (
          <Button
            isSmall
            kind="primary"
            icon={<Plus aria-hidden className="size-3.5" />}
            onClick={() => setCreating(true)}
          >
            Register sandbox
          </Button>
        )
      }
    >
      <p className="mb-3 text-sm text-soft">
        Slipway first stores the files of such a sandbox and then sends them on. Registering and revoking send nothing
        and do not change the external sandbox.
      </p>
      <RowList
        list={list}
        what="the references"
        beyond="To list all, run slipway references list."
        empty={<EmptyState title="No external sandboxes yet" command={CLI} />}
      >
        {(rows) => (
          <DataTable
            caption="References"
            columns={columnsOf(mayChange ? setRevoked : undefined)}
            rows={rows}
            idOf={({ id }) => id}
          />
        )}
      </RowList>
      {isCreating && <CreateReference onClose={() => setCreating(false)} />}
      {revoked && <RevokeReference reference={revoked} onClose={() => setRevoked(undefined)} />}
    </Panel>
  );
}

const column = createColumnHelper<SandboxReference>();

const columnsOf = (onRevoke: ((reference: SandboxReference) => void) | undefined) => [
  column.accessor('external_id', {
    header: 'External sandbox',
    cell: ({ row: { original } }) => (
      <>
        <span className="font-medium break-all">{original.external_id}</span>
        <code className="block min-w-40 text-xs break-all text-soft">{original.base_url}</code>
      </>
    ),
  }),
  column.accessor('provider', { header: 'Provider' }),
  column.accessor('state', {
    header: 'State',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap gap-1">
        <Chip word={original.state} />
        {original.state === 'active' && !original.egress_allowed && (
          <Chip word="egress not allowed" tone="warn">
            egress not allowed by the operator, files fail
          </Chip>
        )}
      </span>
    ),
  }),
  column.accessor('sandbox_id', {
    header: 'Files',
    enableSorting: false,
    cell: ({ getValue, row: { original } }) => (
      <Link
        to="/sandboxes/$id"
        params={{ id: getValue() }}
        aria-label={`Files of ${original.external_id}`}
        className="underline"
      >
        Files
      </Link>
    ),
  }),
  column.accessor('created_at', { header: 'Registered', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.accessor('revoked_at', {
    header: 'Revoked',
    cell: ({ row: { original } }) =>
      original.revoked_at && (
        <>
          <Time at={original.revoked_at} />
          <span className="block text-xs break-all text-soft">by {original.revoked_by}</span>
        </>
      ),
  }),
  column.display({
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) =>
      onRevoke &&
      original.state === 'active' && (
        <Button isSmall kind="danger" aria-label={`Revoke ${original.external_id}`} onClick={() => onRevoke(original)}>
          Revoke
        </Button>
      ),
  }),
];

import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { SandboxReference } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { Chip } from '../../ui/chip.js';
import { Time } from '../../ui/time.js';
import { REFERENCE_ACTIONS, REGISTER } from './reference-actions.js';

const CLI = 'slipway references create box-1 --provider custom --base-url http://127.0.0.1:9000 --credential-file -';

export function ReferencesPanel() {
  const list = usePagedList(['sandbox-references'], (page) => slipway.sandboxes.references.list(page));
  return (
    <ResourcePanel
      title="References to external sandboxes"
      what="references"
      list={list}
      columns={COLUMNS}
      idOf={({ id }) => id}
      nameOf={({ external_id }) => external_id}
      command="slipway references list"
      empty={{ title: 'No external sandboxes yet', command: CLI }}
      needs="operator"
      create={[REGISTER]}
      actions={REFERENCE_ACTIONS}
      renews={[['sandbox-references'], ['sandboxes']]}
    >
      <p className="mb-3 text-sm text-soft">
        Slipway first stores the files of such a sandbox and then sends them on. Registering and revoking send nothing
        and do not change the external sandbox.
      </p>
    </ResourcePanel>
  );
}

const column = createColumnHelper<SandboxReference>();

const COLUMNS = [
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
];

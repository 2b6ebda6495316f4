import type { Page } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { slipway } from '../../api/client.js';
import type { Sandbox } from '../../api/items.js';
import { usePagedList, type PageRequest } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { RowList } from '../../ui/row-list.js';
import { pairsText } from '../../ui/text/listed-text.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Tabs } from '../../ui/tabs.js';
import { Time } from '../../ui/time.js';
import { CreateSandbox } from './create-sandbox.js';
import { CapacityBar } from './capacity-bar.js';
import { ReferencesPanel } from './references-panel.js';

/** Workspaces for files: those that Slipway stores, and those of other providers that receive copies. */
export function SandboxesScreen() {
  const [{ tab }, setAddress] = useAddress();
  return (
    <>
      <ScreenHead title="Sandboxes" />
      <Tabs
        label="Sandboxes"
        value={tab === 'references' ? 'references' : 'sandboxes'}
        onChange={(value) => setAddress({ tab: value === 'sandboxes' ? undefined : value })}
        tabs={[
          { value: 'sandboxes', label: 'Sandboxes', content: <SandboxesPanel /> },
          { value: 'references', label: 'External sandboxes', content: <ReferencesPanel /> },
        ]}
      />
    </>
  );
}

function SandboxesPanel() {
  const mayCreate = useMay('operator');
  const [isCreating, setCreating] = useState(false);
  const list = usePagedList<Sandbox>(['sandboxes'], (page: PageRequest): PromiseLike<Page<Sandbox>> =>
    slipway.sandboxes.list(page),
  );
  return (
    <Panel
      title="Sandboxes, newest first"
      actions={
        mayCreate && (
          <Button
            isSmall
            kind="primary"
            icon={<Plus aria-hidden className="size-3.5" />}
            onClick={() => setCreating(true)}
          >
            Create sandbox
          </Button>
        )
      }
    >
      <RowList
        list={list}
        what="the sandboxes"
        beyond="To list all, run slipway sandboxes list."
        empty={
          <EmptyState title="No sandboxes yet" command="slipway sandboxes create --labels team=search">
            <p className="text-sm text-soft">A sandbox is a durable workspace for files. Slipway runs nothing in it.</p>
          </EmptyState>
        }
      >
        {(rows) => <DataTable caption="Sandboxes" columns={COLUMNS} rows={rows} idOf={({ id }) => id} />}
      </RowList>
      {isCreating && <CreateSandbox onClose={() => setCreating(false)} />}
    </Panel>
  );
}

const column = createColumnHelper<Sandbox>();

const COLUMNS = [
  column.accessor('id', {
    header: 'Sandbox',
    cell: ({ getValue }) => (
      <Link to="/sandboxes/$id" params={{ id: getValue() }} className="underline">
        <code className="inline-block min-w-40 text-xs break-all">{getValue()}</code>
      </Link>
    ),
  }),
  column.accessor('state', { header: 'State', cell: ({ getValue }) => <Chip word={getValue()} /> }),
  column.accessor('provider', { header: 'Provider' }),
  column.accessor(({ workspace }) => workspace.bytes_used, {
    id: 'used',
    header: 'Used',
    cell: ({ row: { original } }) => (
      <CapacityBar used={original.workspace.bytes_used} limit={original.workspace.bytes_limit} />
    ),
  }),
  column.accessor(({ workspace }) => workspace.file_count, { id: 'files', header: 'Files' }),
  column.accessor(({ labels }) => pairsText(labels, ', '), { id: 'labels', header: 'Labels', enableSorting: false }),
  column.accessor('created_at', { header: 'Created', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.accessor('expires_at', { header: 'Expires', cell: ({ getValue }) => <Time at={getValue()} /> }),
];

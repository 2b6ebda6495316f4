import { Link, useNavigate } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { Sandbox } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { Chip } from '../../ui/chip.js';
import { ScreenHead } from '../../ui/panel.js';
import { Tabs } from '../../ui/tabs.js';
import { pairsText } from '../../ui/text/listed-text.js';
import { Time } from '../../ui/time.js';
import { CapacityBar } from './capacity-bar.js';
import { ReferencesPanel } from './references-panel.js';
import { createSandbox, sandboxActions } from './sandbox-actions.js';

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
  const navigate = useNavigate();
  const list = usePagedList(['sandboxes'], (page) => slipway.sandboxes.list(page));
  return (
    <ResourcePanel
      title="Sandboxes, newest first"
      what="sandboxes"
      list={list}
      columns={COLUMNS}
      idOf={({ id }) => id}
      nameOf={({ id }) => id}
      command="slipway sandboxes list"
      empty={{
        title: 'No sandboxes yet',
        command: 'slipway sandboxes create --labels team=search',
        text: 'A sandbox is a durable workspace for files. Slipway runs nothing in it.',
      }}
      needs="operator"
      create={[createSandbox((id) => void navigate({ to: '/sandboxes/$id', params: { id } }))]}
      actions={SANDBOX_ACTIONS}
      renews={[['sandboxes']]}
    />
  );
}

const SANDBOX_ACTIONS = sandboxActions();
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

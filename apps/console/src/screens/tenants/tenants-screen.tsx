import { useQuery } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { Tenant } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { whoQuery } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { Loaded } from '../../ui/loaded.js';
import { ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { CHANGE_ORGANIZATIONS, CREATE } from './tenant-actions.js';

export function TenantsScreen() {
  const who = useQuery(whoQuery);
  return (
    <Loaded query={who} what="your identity">
      {({ tenant }) => (tenant.is_operator ? <Tenants ownId={tenant.id} /> : <NotTheOperator name={tenant.name} />)}
    </Loaded>
  );
}

function NotTheOperator({ name }: { name: string }) {
  return (
    <>
      <ScreenHead title="Tenants" />
      <p>
        The operator of this installation manages the tenants. You are signed in to the tenant {name}, which cannot see
        the others.
      </p>
    </>
  );
}

function Tenants({ ownId }: { ownId: string }) {
  const list = usePagedList(['tenants'], (page) => slipway.tenants.list(page), { isByTime: false });
  return (
    <>
      <ScreenHead title="Tenants" />
      <ResourcePanel
        title="Tenants of this installation"
        what="tenants"
        list={list}
        columns={columnsOf(ownId)}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        command="slipway tenants list"
        empty={{ title: 'No tenants yet', command: 'slipway tenants create acme' }}
        needs="admin"
        create={[CREATE]}
        actions={[CHANGE_ORGANIZATIONS]}
        renews={[['tenants']]}
      />
    </>
  );
}

const column = createColumnHelper<Tenant>();

/** More organizations than a person reads in a row. */
const SHOWN = 20;

const columnsOf = (ownId: string) => [
  column.accessor('name', {
    header: 'Name',
    cell: ({ getValue, row: { original } }) => (
      <span className="break-words">
        {getValue()} {original.id === ownId && <Chip word="operator" tone="info" />}
      </span>
    ),
  }),
  column.accessor('id', { header: 'ID', cell: ({ getValue }) => <code className="text-xs">{getValue()}</code> }),
  column.accessor(({ external_organization_ids }) => external_organization_ids.length, {
    id: 'organizations',
    header: 'Organizations',
    cell: ({ row: { original } }) => <Organizations ids={original.external_organization_ids} />,
  }),
  column.accessor('created_at', { header: 'Created', cell: ({ getValue }) => <Time at={getValue()} /> }),
];

function Organizations({ ids }: { ids: string[] }) {
  if (ids.length === 0) return <span className="text-soft">none</span>;
  return (
    <span className="text-xs">
      <code className="break-all">{ids.slice(0, SHOWN).join(', ')}</code>
      {ids.length > SHOWN && ` and ${ids.length - SHOWN} more`}
    </span>
  );
}

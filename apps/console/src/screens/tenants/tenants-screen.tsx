import { useQuery } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { slipway } from '../../api/client.js';
import type { Tenant } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useMay, whoQuery } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { RowList } from '../../ui/row-list.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { ChangeOrganizations } from './change-organizations.js';
import { CreateTenant } from './create-tenant.js';

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
  const mayChange = useMay('admin');
  const list = usePagedList(['tenants'], (page) => slipway.tenants.list(page));
  const [isCreating, setCreating] = useState(false);
  const [changed, setChanged] = useState<Tenant>();
  return (
    <>
      <ScreenHead
        title="Tenants"
        actions={
          mayChange && (
            <Button kind="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setCreating(true)}>
              Create tenant
            </Button>
          )
        }
      />
      <Panel title="Tenants of this installation">
        <RowList
          list={list}
          what="the tenants"
          beyond="To list all, run slipway tenants list."
          empty={<EmptyState title="No tenants yet" command="slipway tenants create acme" />}
        >
          {(rows) => (
            <DataTable
              caption="Tenants"
              columns={columnsOf(ownId, mayChange ? setChanged : undefined)}
              rows={rows}
              idOf={({ id }) => id}
            />
          )}
        </RowList>
      </Panel>
      {isCreating && <CreateTenant onClose={() => setCreating(false)} />}
      {changed && <ChangeOrganizations tenant={changed} onClose={() => setChanged(undefined)} />}
    </>
  );
}

const column = createColumnHelper<Tenant>();

/** More organizations than a person reads in a row. */
const SHOWN = 20;

const columnsOf = (ownId: string, onChange?: (tenant: Tenant) => void) => [
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
  column.display({
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) =>
      onChange && (
        <Button isSmall aria-label={`Change organizations of ${original.name}`} onClick={() => onChange(original)}>
          Change organizations
        </Button>
      ),
  }),
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

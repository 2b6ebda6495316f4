import type { OptionsOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { slipway } from '../../api/client.js';
import type { AccessMapping } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { sessionQuery, useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ChoiceFilter } from '../../ui/filters.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { GrantAccess, RevokeAccess } from './access-dialogs.js';

const CLI = 'slipway access grant u1 --organization org1 --scopes viewer';

export function AccessScreen() {
  const mayChange = useMay('admin');
  const [{ status = '' }] = useAddress();
  const { data: session } = useQuery(sessionQuery);
  const asked = status ? { status: status as NonNullable<OptionsOf<'listConsoleAccess'>['status']> } : {};
  const list = usePagedList(['console-access', asked], (page) => slipway.consoleAccess.list({ ...asked, ...page }));
  const [granted, setGranted] = useState<{ mapping?: AccessMapping }>();
  const [revoked, setRevoked] = useState<AccessMapping>();
  const columns = columnsOf(mayChange ? { onGrant: (mapping) => setGranted({ mapping }), onRevoke: setRevoked } : {});
  return (
    <>
      <ScreenHead
        title="Access"
        actions={
          mayChange && (
            <Button kind="primary" icon={<UserPlus aria-hidden className="size-4" />} onClick={() => setGranted({})}>
              Grant access
            </Button>
          )
        }
      />
      {session && !session.methods.includes('hosted') && (
        <p className="mb-3 rounded-md bg-info-soft p-3 text-sm text-info">
          Hosted sign-in is not configured. Access grants take effect once it is. Until then, people sign in with
          tokens.
        </p>
      )}
      <Panel title="Identities">
        <div className="mb-3 flex">
          <ChoiceFilter name="status" label="Status" choices={['active', 'revoked']} />
        </div>
        <RowList
          list={list}
          what="the access mappings"
          beyond="To list all, run slipway access list."
          empty={
            <EmptyState title={status ? `No ${status} mappings` : 'No identities yet'} command={CLI}>
              <p className="text-sm text-soft">
                Grant access to an identity of the identity provider, so that this person can sign in.
              </p>
            </EmptyState>
          }
        >
          {(rows) => <DataTable caption="Access mappings" columns={columns} rows={rows} idOf={({ id }) => id} />}
        </RowList>
      </Panel>
      {granted && <GrantAccess mapping={granted.mapping} onClose={() => setGranted(undefined)} />}
      {revoked && <RevokeAccess mapping={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

interface AccessActions {
  onGrant?: (mapping: AccessMapping) => void;
  onRevoke?: (mapping: AccessMapping) => void;
}

const column = createColumnHelper<AccessMapping>();

const columnsOf = ({ onGrant, onRevoke }: AccessActions) => [
  column.accessor(({ display_name }) => display_name ?? '', {
    id: 'display_name',
    header: 'Display name',
    cell: ({ getValue }) => getValue() || <span className="text-soft">none</span>,
  }),
  column.accessor('external_user_id', {
    header: 'User',
    cell: ({ getValue }) => <code className="inline-block min-w-24 text-xs break-all">{getValue()}</code>,
  }),
  column.accessor('external_organization_id', {
    header: 'Organization',
    cell: ({ getValue }) => <code className="inline-block min-w-24 text-xs break-all">{getValue()}</code>,
  }),
  column.accessor('provider', { header: 'Provider' }),
  column.accessor(({ scopes }) => scopes.join(', '), { id: 'scopes', header: 'Scopes' }),
  column.accessor('status', { header: 'Status', cell: ({ getValue }) => <Chip word={getValue()} /> }),
  column.accessor('updated_at', {
    header: 'Updated',
    cell: ({ getValue, row: { original } }) => (
      <>
        <Time at={getValue()} />
        <span className="block text-xs text-soft">
          by {original.updated_by.type} {original.updated_by.id}
        </span>
      </>
    ),
  }),
  column.display({
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) => {
      const who = original.display_name ?? original.external_user_id;
      return (
        <span className="inline-flex gap-1">
          {onGrant && (
            <Button
              isSmall
              aria-label={`${original.access ? 'Change' : 'Grant again'}: ${who}`}
              onClick={() => onGrant(original)}
            >
              {original.access ? 'Change' : 'Grant again'}
            </Button>
          )}
          {onRevoke && original.access && (
            <Button kind="danger" isSmall aria-label={`Revoke: ${who}`} onClick={() => onRevoke(original)}>
              Revoke
            </Button>
          )}
        </span>
      );
    },
  }),
];

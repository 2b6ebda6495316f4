import type { OptionsOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel, type ListFilter } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { AccessMapping } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { choicesOf, useAddress } from '../../api/search.js';
import { sessionQuery } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { ACCESS_ACTIONS, grantTo, nameOf } from './access-actions.js';

const STATUSES = choicesOf<'listConsoleAccess', 'status'>({ active: true, revoked: true });
const STATUS: ListFilter = { name: 'status', label: 'Status', choices: STATUSES };

export function AccessScreen() {
  const { data: session } = useQuery(sessionQuery);
  const [{ status }] = useAddress();
  // The address may hold any text; the api refuses others than these.
  const asked = (status ? { status } : {}) as Pick<OptionsOf<'listConsoleAccess'>, 'status'>;
  const list = usePagedList(['console-access', asked], (page) => slipway.consoleAccess.list({ ...asked, ...page }));
  return (
    <>
      <ScreenHead title="Access" />
      {session && !session.methods.includes('hosted') && (
        <p className="mb-3 rounded-md bg-info-soft p-3 text-sm text-info">
          Hosted sign-in is not configured. Access grants take effect once it is. Until then, people sign in with
          tokens.
        </p>
      )}
      <ResourcePanel
        title="Identities"
        what="identities"
        list={list}
        columns={COLUMNS}
        idOf={({ id }) => id}
        nameOf={nameOf}
        filters={[STATUS]}
        command="slipway access list"
        empty={{
          title: 'No identities yet',
          command: 'slipway access grant u1 --organization org1 --scopes viewer',
          text: 'Grant access to an identity of the identity provider, so that this person can sign in.',
        }}
        needs="admin"
        create={[grantTo(session?.identity_provider)]}
        actions={ACCESS_ACTIONS}
        renews={[['console-access']]}
      />
    </>
  );
}

const column = createColumnHelper<AccessMapping>();

const COLUMNS = [
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
];

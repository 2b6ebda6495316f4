import type { OptionsOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel, type ListFilter } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { Token } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { choicesOf, useAddress } from '../../api/search.js';
import { whoQuery } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { ScreenHead } from '../../ui/panel.js';
import { ownerText } from '../../ui/text/owner-text.js';
import { Time } from '../../ui/time.js';
import { CREATE, TOKEN_ACTIONS } from './token-actions.js';
import { endsSoon, isEndless, prefixOf } from './token-text.js';

const STATES = choicesOf<'listTokens', 'state'>({ active: true, revoked: true, expired: true });
const STATE: ListFilter = { name: 'state', label: 'State', choices: STATES };

export function TokensScreen() {
  const { data: who } = useQuery(whoQuery);
  const [{ state }] = useAddress();
  // The address may hold any text; the api refuses others than these.
  const asked = (state ? { state } : {}) as Pick<OptionsOf<'listTokens'>, 'state'>;
  const list = usePagedList(['tokens', asked], (page) => slipway.tokens.list({ ...asked, ...page }));
  return (
    <>
      <ScreenHead title="Tokens" />
      <ResourcePanel
        title="API tokens"
        what="tokens"
        list={list}
        columns={columnsOf(who?.actor.id)}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        filters={[STATE]}
        command="slipway tokens list"
        empty={{ title: 'No tokens yet', command: 'slipway tokens create ci --scopes operator' }}
        needs="admin"
        create={[CREATE]}
        actions={TOKEN_ACTIONS}
        renews={[['tokens']]}
      />
    </>
  );
}

const column = createColumnHelper<Token>();

const columnsOf = (own: string | undefined) => [
  column.accessor('name', {
    header: 'Name',
    cell: ({ row: { original } }) => (
      <span className="break-words">
        {original.name} {original.id === own && <Chip word="yours" tone="info" />}
      </span>
    ),
  }),
  column.accessor(({ id }) => prefixOf(id), {
    id: 'prefix',
    header: 'Prefix',
    cell: ({ getValue }) => <code className="text-xs">{getValue()}</code>,
  }),
  column.accessor(({ scopes }) => scopes.join(', '), { id: 'scopes', header: 'Scopes' }),
  column.accessor(({ owner }) => ownerText(owner), {
    id: 'owner',
    header: 'Owner',
    cell: ({ getValue, row: { original } }) => (
      <span title={`created by ${original.created_by}`} className="break-words">
        {getValue()}
      </span>
    ),
  }),
  column.accessor('state', { header: 'State', cell: ({ getValue }) => <Chip word={getValue()} /> }),
  column.accessor('last_used_at', { header: 'Last used', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.accessor('expires_at', {
    header: 'Expires',
    cell: ({ getValue, row: { original } }) => (
      <>
        {isEndless(getValue()) ? 'never' : <Time at={getValue()} />}{' '}
        {endsSoon(original, Date.now()) && <Chip word="soon" tone="warn" />}
      </>
    ),
  }),
  column.accessor('created_at', { header: 'Created', cell: ({ getValue }) => <Time at={getValue()} /> }),
];

import type { OptionsOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { slipway } from '../../api/client.js';
import type { Token } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { useMay, whoQuery } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ChoiceFilter } from '../../ui/filters.js';
import { ownerText } from '../../ui/text/owner-text.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { CreateToken } from './create-token.js';
import { RevokeToken } from './revoke-token.js';
import { endsSoon, isEndless, prefixOf } from './token-text.js';

const CLI = 'slipway tokens create ci --scopes operator';

export function TokensScreen() {
  const mayChange = useMay('admin');
  const [{ state = '' }] = useAddress();
  const { data: who } = useQuery(whoQuery);
  const asked = state ? { state: state as NonNullable<OptionsOf<'listTokens'>['state']> } : {};
  const list = usePagedList(['tokens', asked], (page) => slipway.tokens.list({ ...asked, ...page }));
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Token>();
  const columns = columnsOf({ own: who?.actor.id, onRevoke: mayChange ? setRevoked : undefined });
  return (
    <>
      <ScreenHead
        title="Tokens"
        actions={
          mayChange && (
            <Button kind="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setCreating(true)}>
              Create token
            </Button>
          )
        }
      />
      <Panel title="API tokens">
        <div className="mb-3 flex">
          <ChoiceFilter name="state" label="State" choices={['active', 'revoked', 'expired']} />
        </div>
        <RowList
          list={list}
          what="the tokens"
          beyond="To list all, run slipway tokens list."
          empty={<EmptyState title={state ? `No ${state} tokens` : 'No tokens yet'} command={CLI} />}
        >
          {(rows) => <DataTable caption="Tokens" columns={columns} rows={rows} idOf={({ id }) => id} />}
        </RowList>
      </Panel>
      {isCreating && <CreateToken onClose={() => setCreating(false)} />}
      {revoked && (
        <RevokeToken token={revoked} isOwn={revoked.id === who?.actor.id} onClose={() => setRevoked(undefined)} />
      )}
    </>
  );
}

const column = createColumnHelper<Token>();

const columnsOf = ({ own, onRevoke }: { own?: string; onRevoke?: (token: Token) => void }) => [
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
  column.display({
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) =>
      original.state === 'active' &&
      onRevoke && (
        <Button kind="danger" isSmall aria-label={`Revoke ${original.name}`} onClick={() => onRevoke(original)}>
          Revoke
        </Button>
      ),
  }),
];

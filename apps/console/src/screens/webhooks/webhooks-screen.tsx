import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { slipway } from '../../api/client.js';
import type { Webhook } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { CreateWebhook } from './create-webhook.js';
import { DeleteWebhook } from './delete-webhook.js';
import { Deliveries } from './deliveries.js';

const CLI = 'slipway webhooks create https://hooks.example.com/slipway --event-types rollout.promoted';

export function WebhooksScreen() {
  const mayChange = useMay('admin');
  const [{ webhook: chosen }, change] = useAddress();
  const list = usePagedList(['webhooks'], (page) => slipway.webhooks.list(page));
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<Webhook>();
  const columns = columnsOf({
    chosen,
    onChoose: (webhook) => change({ webhook, status: undefined }),
    onDelete: mayChange ? setDeleted : undefined,
  });
  return (
    <>
      <ScreenHead
        title="Webhooks"
        actions={
          mayChange && (
            <Button kind="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setCreating(true)}>
              Create webhook
            </Button>
          )
        }
      />
      <div className="space-y-3">
        <Panel title="Event webhooks">
          <RowList
            list={list}
            what="the webhooks"
            beyond="To list all, run slipway webhooks list."
            empty={
              <EmptyState title="No webhooks yet" command={CLI}>
                <p className="text-sm text-soft">A webhook notifies another service of events.</p>
              </EmptyState>
            }
          >
            {(rows) => <DataTable caption="Webhooks" columns={columns} rows={rows} idOf={({ id }) => id} />}
          </RowList>
        </Panel>
        {chosen && <Deliveries key={chosen} id={chosen} webhook={list.rows?.find(({ id }) => id === chosen)} />}
      </div>
      {isCreating && <CreateWebhook onClose={() => setCreating(false)} />}
      {deleted && (
        <DeleteWebhook
          webhook={deleted}
          onClose={() => setDeleted(undefined)}
          onDeleted={() => deleted.id === chosen && change({ webhook: undefined, status: undefined })}
        />
      )}
    </>
  );
}

interface Choices {
  chosen?: string;
  onChoose: (id: string | undefined) => void;
  onDelete?: (webhook: Webhook) => void;
}

const column = createColumnHelper<Webhook>();
const wordsOrAll = (words: string[]) => (words.length > 0 ? words.join(', ') : 'all');

const columnsOf = ({ chosen, onChoose, onDelete }: Choices) => [
  column.accessor('url', {
    header: 'URL',
    cell: ({ getValue, row: { original } }) => (
      <div className="min-w-40">
        <span className="break-all">{getValue()}</span>
        {original.description && <p className="text-xs break-words text-soft">{original.description}</p>}
      </div>
    ),
  }),
  column.accessor('state', {
    header: 'State',
    cell: ({ getValue, row: { original } }) => (
      <>
        <Chip word={getValue()} tone={getValue() === 'disabled' ? 'bad' : undefined} />
        {original.disabled_reason && (
          <span className="block text-xs text-soft">
            {original.disabled_reason === 'gone' ? 'The receiver returned status 410.' : original.disabled_reason}{' '}
            <Time at={original.disabled_at} />
          </span>
        )}
      </>
    ),
  }),
  column.accessor(({ event_types }) => wordsOrAll(event_types), { id: 'event_types', header: 'Event types' }),
  column.accessor(({ deployments }) => wordsOrAll(deployments), { id: 'deployments', header: 'Deployments' }),
  column.accessor('created_at', {
    header: 'Created',
    cell: ({ getValue, row: { original } }) => (
      <span title={`created by ${original.created_by}`}>
        <Time at={getValue()} />
      </span>
    ),
  }),
  column.display({
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) => {
      const isChosen = original.id === chosen;
      return (
        <span className="inline-flex gap-1">
          <Button
            isSmall
            aria-pressed={isChosen}
            aria-label={`Show deliveries to ${original.url}`}
            className={isChosen ? 'bg-accent-soft' : undefined}
            onClick={() => onChoose(isChosen ? undefined : original.id)}
          >
            Show deliveries
          </Button>
          {onDelete && (
            <Button kind="danger" isSmall aria-label={`Delete ${original.url}`} onClick={() => onDelete(original)}>
              Delete
            </Button>
          )}
        </span>
      );
    },
  }),
];

import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { Webhook } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { Deliveries } from './deliveries.js';
import { CREATE, webhookActions } from './webhook-actions.js';

const CLI = 'slipway webhooks create https://hooks.example.com/slipway --event-types rollout.promoted';

export function WebhooksScreen() {
  const [{ webhook: chosen }, change] = useAddress();
  const choose = (webhook: string | undefined) => change({ webhook, status: undefined, event_type: undefined });
  const list = usePagedList(['webhooks'], (page) => slipway.webhooks.list(page));
  return (
    <>
      <ScreenHead title="Webhooks" />
      <div className="space-y-3">
        <ResourcePanel
          title="Event webhooks"
          what="webhooks"
          list={list}
          columns={COLUMNS}
          idOf={({ id }) => id}
          nameOf={({ url }) => url}
          command="slipway webhooks list"
          empty={{ title: 'No webhooks yet', command: CLI, text: 'A webhook notifies another service of events.' }}
          needs="admin"
          create={[CREATE]}
          actions={webhookActions((id) => id === chosen && choose(undefined))}
          views={({ id, url }) => (
            <Button
              isSmall
              aria-pressed={id === chosen}
              aria-label={`Show deliveries to ${url}`}
              className={id === chosen ? 'bg-accent-soft' : undefined}
              onClick={() => choose(id === chosen ? undefined : id)}
            >
              Show deliveries
            </Button>
          )}
          renews={[['webhooks']]}
        />
        {chosen && <Deliveries key={chosen} id={chosen} webhook={list.rows?.find(({ id }) => id === chosen)} />}
      </div>
    </>
  );
}

const column = createColumnHelper<Webhook>();
const wordsOrAll = (words: string[]) => (words.length > 0 ? words.join(', ') : 'all');

const COLUMNS = [
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
];

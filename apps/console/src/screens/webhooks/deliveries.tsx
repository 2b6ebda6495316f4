import type { OptionsOf } from '@slipway/sdk';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel, type ListFilter } from '../../actions/resource-panel.js';
import { slipway } from '../../api/client.js';
import type { Delivery, Webhook } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { choicesOf, useAddress } from '../../api/search.js';
import { Chip } from '../../ui/chip.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { Time, useNow } from '../../ui/time.js';
import { responseText } from './delivery-text.js';
import { deliveryActions, EVENT_TYPES } from './webhook-actions.js';

type Query = Pick<OptionsOf<'listWebhookDeliveries'>, 'status' | 'event_type'>;

const STATUSES = choicesOf<'listWebhookDeliveries', 'status'>({
  pending: true,
  succeeded: true,
  failed: true,
  cancelled: true,
  skipped: true,
});
const FILTERS: ListFilter[] = [
  { name: 'status', label: 'Status', choices: STATUSES },
  { name: 'event_type', label: 'Event type', choices: EVENT_TYPES },
];

/** Shows the deliveries to a webhook, and its answers. */
export function Deliveries({ id, webhook }: { id: string; webhook?: Webhook }) {
  const [{ status, event_type }] = useAddress();
  // The address may hold any text; the api refuses others than these.
  const asked = { ...(status && { status }), ...(event_type && { event_type }) } as Query;
  const list = usePagedList(['webhooks', id, 'deliveries', asked], (page) =>
    slipway.webhooks.deliveries(id, { ...asked, ...page }),
  );
  const command = shellLine('slipway', 'webhooks', 'deliveries', id);
  return (
    <ResourcePanel
      title="Deliveries"
      note={<span className="min-w-0 text-sm break-all text-soft">{webhook?.url ?? id}</span>}
      what="deliveries"
      list={list}
      columns={COLUMNS}
      idOf={({ event_id }) => event_id}
      nameOf={({ event_type: type, event_id }) => `${type} ${event_id}`}
      filters={FILTERS}
      command={command}
      empty={{
        title: 'No deliveries yet',
        command,
        text: 'Deliveries to the webhook appear here. Ended ones are kept for 30 days.',
      }}
      needs="admin"
      actions={deliveryActions(id)}
      renews={[['webhooks']]}
    />
  );
}

const column = createColumnHelper<Delivery>();

const COLUMNS = [
  column.accessor('event_type', {
    header: 'Event',
    cell: ({ getValue, row: { original } }) => (
      <>
        {getValue()}
        <code className="block text-xs break-all text-soft">{original.event_id}</code>
      </>
    ),
  }),
  column.accessor('status', { header: 'Status', cell: ({ getValue }) => <Chip word={getValue()} /> }),
  column.accessor('attempts', { header: 'Attempts' }),
  column.accessor(responseText, { id: 'response', header: 'Last response' }),
  column.accessor('last_attempt_at', { header: 'Last attempt', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.accessor('next_attempt_at', {
    header: 'Next attempt',
    cell: ({ getValue }) => <NextAttempt at={getValue()} />,
  }),
  column.accessor('created_at', { header: 'Created', cell: ({ getValue }) => <Time at={getValue()} /> }),
];

/** Deliveries are sent in order: a due one waits for those before it. */
function NextAttempt({ at }: { at: string | null }) {
  const now = useNow();
  if (!at) return <span className="text-soft">none</span>;
  return Date.parse(at) > now ? <Time at={at} /> : <span>due, waits for earlier ones</span>;
}

import type { OptionsOf } from '@slipway/sdk';
import { createColumnHelper } from '@tanstack/react-table';
import { slipway } from '../../api/client.js';
import type { Delivery, Webhook } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ChoiceFilter } from '../../ui/filters.js';
import { RowList } from '../../ui/row-list.js';
import { Panel } from '../../ui/panel.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { Time, useNow } from '../../ui/time.js';
import { responseText } from './delivery-text.js';

/** Shows the deliveries to a webhook, and its answers. */
export function Deliveries({ id, webhook }: { id: string; webhook?: Webhook }) {
  const [{ status = '' }] = useAddress();
  const asked = status ? { status: status as NonNullable<OptionsOf<'listWebhookDeliveries'>['status']> } : {};
  const list = usePagedList(['webhooks', id, 'deliveries', asked], (page) =>
    slipway.webhooks.deliveries(id, { ...asked, ...page }),
  );
  const command = shellLine('slipway', 'webhooks', 'deliveries', id);
  return (
    <Panel title="Deliveries" note={<span className="min-w-0 text-sm break-all text-soft">{webhook?.url ?? id}</span>}>
      <div className="mb-3 flex">
        <ChoiceFilter
          name="status"
          label="Status"
          choices={['pending', 'succeeded', 'failed', 'cancelled', 'skipped']}
        />
      </div>
      <RowList
        list={list}
        what="the deliveries"
        beyond={`To list all, run ${command}.`}
        empty={
          <EmptyState title={status ? `No ${status} deliveries` : 'No deliveries yet'} command={command}>
            <p className="text-sm text-soft">Deliveries to the webhook appear here. Ended ones are kept for 30 days.</p>
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable
            caption="Deliveries to the webhook"
            columns={COLUMNS}
            rows={rows}
            idOf={({ event_id }) => event_id}
          />
        )}
      </RowList>
    </Panel>
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

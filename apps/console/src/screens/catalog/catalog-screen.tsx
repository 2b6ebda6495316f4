import type { Page } from '@slipway/sdk';
import { createColumnHelper } from '@tanstack/react-table';
import { slipway } from '../../api/client.js';
import type { CatalogEntry } from '../../api/items.js';
import { usePagedList, type PageRequest } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ChoiceFilter, TextFilter } from '../../ui/filters.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { lengthText } from '../../ui/text/time-text.js';
import { EntryPanel } from './entry-panel.js';
import { isMeant, priceText, tokensText } from './entry-text.js';

/**
 * The publications for this tenant, as all its people see them: a name, its
 * features, and its quality. Never the supplier.
 */
export function CatalogScreen() {
  const [{ model, search = '', availability = '' }, setAddress] = useAddress();
  const list = usePagedList<CatalogEntry>(
    ['model-api-catalog'],
    (page: PageRequest): PromiseLike<Page<CatalogEntry>> => slipway.modelApiCatalog.list(page),
    { isByTime: false },
  );
  return (
    <>
      <ScreenHead title="Catalog" />
      <div className="grid items-start gap-3 xl:grid-cols-[1fr_26rem]">
        <Panel title="Models">
          <div className="mb-3 flex flex-wrap gap-3">
            <TextFilter name="search" label="Search" placeholder="name or description" />
            <ChoiceFilter name="availability" label="Availability" choices={['available', 'degraded', 'unavailable']} />
          </div>
          <RowList
            list={list}
            what="the catalog"
            beyond="To list all, run slipway catalog list."
            empty={
              <EmptyState title="No models yet" command="slipway catalog list">
                <p className="text-sm text-soft">
                  Models published for this tenant appear here. An admin publishes them under Model APIs.
                </p>
              </EmptyState>
            }
          >
            {(rows) => {
              const shown = rows.filter(
                (row) => isMeant(row, search) && (!availability || row.availability === availability),
              );
              if (shown.length === 0)
                return <EmptyState title={`None of the ${rows.length} loaded models matches the filters`} />;
              return (
                <DataTable
                  caption="Published models"
                  columns={columnsOf(model, (slug) => setAddress({ model: slug }))}
                  rows={shown}
                  idOf={({ id }) => id}
                />
              );
            }}
          </RowList>
        </Panel>
        {model && <EntryPanel key={model} slug={model} onClose={() => setAddress({ model: undefined })} />}
      </div>
    </>
  );
}

const column = createColumnHelper<CatalogEntry>();

const columnsOf = (chosen: string | undefined, onChoose: (slug: string) => void) => [
  column.accessor('slug', {
    header: 'Model',
    cell: ({ row: { original } }) => (
      <>
        <code className="block wrap-anywhere">{original.slug}</code>
        {original.name !== original.slug && <span className="block text-xs text-soft">{original.name}</span>}
      </>
    ),
  }),
  column.accessor('availability', { header: 'Availability', cell: ({ getValue }) => <Chip word={getValue()} /> }),
  column.accessor('context_length', { header: 'Context', cell: ({ getValue }) => tokensText(getValue()) }),
  column.accessor(({ pricing }) => priceText(pricing), { id: 'pricing', header: 'Price per million tokens' }),
  column.accessor(({ performance }) => performance?.ttft_ms?.p50 ?? null, {
    id: 'ttft',
    header: 'TTFT p50',
    cell: ({ getValue }) => measuredText(getValue(), lengthText),
  }),
  column.accessor(({ performance }) => performance?.output_tokens_per_s ?? null, {
    id: 'speed',
    header: 'Tokens/s',
    cell: ({ getValue }) => measuredText(getValue(), (speed) => speed.toFixed(1)),
  }),
  column.display({
    id: 'choose',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) => (
      <Button
        isSmall
        aria-pressed={original.slug === chosen}
        aria-label={`Show usage of ${original.slug}`}
        onClick={() => onChoose(original.slug)}
      >
        Show usage
      </Button>
    ),
  }),
];

const measuredText = (value: number | null, textOf: (value: number) => string) =>
  value === null ? <span className="text-soft">no requests</span> : textOf(value);

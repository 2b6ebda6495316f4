import { createColumnHelper } from '@tanstack/react-table';
import { Megaphone } from 'lucide-react';
import { useState } from 'react';
import { ActionButtons, useActions } from '../../actions/action-dialog.js';
import type { Binding, Product, Publication } from '../../api/items.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { targetText, type Flow } from './flow.js';
import { WITHDRAW } from './product-actions.js';
import { PublishDialog } from './publish-dialog.js';

const RENEWS = [['model-api-publications'], ['model-api-products'], ['model-api-catalog'], ['models']];

/** A page does not show more versions. */
const MOST_SHOWN = 100;

export function PublicationPanel({ product, flow }: { product: Product; flow: Flow }) {
  const mayChange = useMay('admin');
  const [isPublishing, setPublishing] = useState(false);
  const { open, dialog } = useActions<Publication>(...RENEWS);
  const { bindings, publications, current } = flow;
  const qualified = bindings.filter(({ state }) => state === 'qualified');
  return (
    <Panel
      title="4 Publication"
      note={current && <Chip word="published">{`version ${current.version}`}</Chip>}
      actions={
        mayChange && (
          <>
            {current && <ActionButtons isSmall actions={[WITHDRAW]} row={current} onOpen={open} />}
            <Button
              isSmall
              kind={current || qualified.length === 0 ? 'plain' : 'primary'}
              disabled={qualified.length === 0}
              icon={<Megaphone aria-hidden className="size-3.5" />}
              onClick={() => setPublishing(true)}
            >
              Publish
            </Button>
          </>
        )
      }
    >
      <div className="space-y-3">
        {current && <Shares publication={current} bindings={bindings} />}
        {current?.shares_prefix_cache && (
          <p className="text-sm text-soft">
            Its tenants share a prefix cache, also if they send cache_salt: response times can reveal earlier prompts.
          </p>
        )}
        {publications.length === 0 ? (
          <EmptyState
            title="Not published yet"
            command={`slipway publications create ${product.id} --binding ${(qualified[0] ?? bindings[0])?.id ?? 'bnd_1'}`}
          >
            {qualified.length === 0 && (
              <p className="text-sm text-soft">Publishing requires a qualified binding. Qualify one first.</p>
            )}
          </EmptyState>
        ) : (
          <DataTable
            caption="Publications of the product"
            columns={COLUMNS}
            rows={publications.slice(0, MOST_SHOWN)}
            idOf={({ id }) => id}
            className="max-h-60 overflow-y-auto"
          />
        )}
      </div>
      {isPublishing && (
        <PublishDialog product={product} qualified={qualified} current={current} onClose={() => setPublishing(false)} />
      )}
      {dialog}
    </Panel>
  );
}

/** Shows the bindings that answer, and their shares: those with the lowest priority, while one of them can. */
function Shares({ publication, bindings }: { publication: Publication; bindings: Binding[] }) {
  return (
    <ul className="space-y-1 text-sm">
      {publication.bindings.map(({ binding_id, weight, priority }) => {
        const binding = bindings.find(({ id }) => id === binding_id);
        return (
          <li key={binding_id} className="flex flex-wrap items-center gap-2">
            <span className="min-w-0 font-medium break-all">{binding ? targetText(binding) : binding_id}</span>
            <span className="text-soft">
              weight {weight}
              {weight === 0 && ' (dark)'}, priority {priority}
            </span>
            {binding && (
              <Chip word={binding.drifted ? 'drifted' : binding.state} tone={binding.drifted ? 'bad' : undefined} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

const column = createColumnHelper<Publication>();

const COLUMNS = [
  column.accessor('version', { header: 'Version' }),
  column.accessor('state', { header: 'State', cell: ({ getValue }) => <Chip word={getValue()} /> }),
  column.accessor(({ audience }) => audienceText(audience), { id: 'audience', header: 'Audience' }),
  column.accessor(({ notes }) => notes ?? '', { id: 'notes', header: 'Notes', enableSorting: false }),
  column.accessor('created_at', { header: 'Published', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.accessor('ended_at', {
    header: 'Ended',
    cell: ({ getValue }) => (getValue() ? <Time at={getValue()} /> : null),
  }),
];

function audienceText({ visibility, tenants = [] }: Publication['audience']): string {
  if (visibility === 'shared') return 'all tenants';
  return tenants.length === 0 ? 'this tenant' : `this tenant and ${tenants.length} more`;
}

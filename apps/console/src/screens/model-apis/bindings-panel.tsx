import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Binding, Product } from '../../api/items.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { CreateBinding } from './create-binding.js';
import { targetText } from './flow.js';

/** A page does not show more bindings of one product. */
const MOST_SHOWN = 200;

interface BindingsPanelProps {
  product: Product;
  bindings: Binding[];
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

export function BindingsPanel({ product, bindings, chosen, onChoose }: BindingsPanelProps) {
  const mayChange = useMay('admin');
  const [isCreating, setCreating] = useState(false);
  return (
    <Panel
      title="2 Bindings"
      note={<span className="text-xs text-soft">{bindings.length}</span>}
      actions={
        mayChange && (
          <Button isSmall icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setCreating(true)}>
            Create binding
          </Button>
        )
      }
    >
      {bindings.length === 0 ? (
        <EmptyState
          title="No bindings yet. Create one to connect the product to a model."
          command={`slipway bindings create ${product.id} --deployment chat --revision chat-00001`}
        />
      ) : (
        <DataTable
          caption="Bindings of the product"
          className="max-h-72 overflow-y-auto"
          columns={columnsOf(chosen, onChoose)}
          rows={bindings.slice(0, MOST_SHOWN)}
          idOf={({ id }) => id}
        />
      )}
      {isCreating && (
        <CreateBinding product={product} onClose={() => setCreating(false)} onCreated={(id) => onChoose(id)} />
      )}
    </Panel>
  );
}

const column = createColumnHelper<Binding>();

const columnsOf = (chosen: string | undefined, onChoose: (id: string) => void) => [
  column.accessor(targetText, {
    id: 'target',
    header: 'Destination',
    cell: ({ row: { original } }) => <BindingTarget binding={original} />,
  }),
  column.accessor('state', {
    header: 'State',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap gap-1">
        <Chip word={original.state} />
        {original.drifted && <Chip word="drifted" tone="bad" />}
      </span>
    ),
  }),
  column.accessor(({ limits }) => limitsText(limits), { id: 'limits', header: 'Limits' }),
  column.accessor('created_at', { header: 'Created', cell: ({ getValue }) => <Time at={getValue()} /> }),
  column.display({
    id: 'choose',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row: { original } }) => (
      <Button
        isSmall
        aria-pressed={original.id === chosen}
        aria-label={`${original.id === chosen ? 'Shown' : 'Show'}: qualification of ${targetText(original)}`}
        onClick={() => onChoose(original.id)}
      >
        {original.id === chosen ? 'Shown' : 'Show'}
      </Button>
    ),
  }),
];

function BindingTarget({ binding: { target } }: { binding: Binding }) {
  if (target.deployment === undefined)
    return (
      <>
        <span className="block break-all">
          {target.supplier} · {target.model}
        </span>
        <code className="block text-xs break-all text-soft">{target.base_url}</code>
      </>
    );
  return (
    <>
      <Link to="/deployments/$name" params={{ name: target.deployment }} className="underline">
        {target.deployment}
      </Link>
      <code className="block min-w-28 text-xs break-all text-soft">{target.revision}</code>
    </>
  );
}

function limitsText({ max_rps, max_concurrency }: Binding['limits']): string {
  const limits = [max_rps && `${max_rps}/s`, max_concurrency && `${max_concurrency} concurrent`].filter(Boolean);
  return limits.join(', ') || 'none';
}

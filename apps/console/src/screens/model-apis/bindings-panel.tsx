import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { ResourcePanel } from '../../actions/resource-panel.js';
import type { Binding, Product } from '../../api/items.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { loadedRows } from '../../ui/row-list.js';
import { Time } from '../../ui/time.js';
import { BINDING_ACTIONS, bindingsOf } from './binding-actions.js';
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
  return (
    <ResourcePanel
      title="2 Bindings"
      note={<span className="text-xs text-soft">{bindings.length}</span>}
      what="bindings"
      list={loadedRows(bindings.slice(0, MOST_SHOWN))}
      columns={COLUMNS}
      idOf={({ id }) => id}
      nameOf={targetText}
      className="max-h-72 overflow-y-auto"
      command="slipway bindings list"
      empty={{
        title: 'No bindings yet. Create one to connect the product to a model.',
        command: `slipway bindings create ${product.id} --deployment chat --revision chat-00001`,
      }}
      needs="admin"
      create={bindingsOf(product, onChoose)}
      actions={BINDING_ACTIONS}
      views={(binding) => {
        const word = binding.id === chosen ? 'Shown' : 'Show';
        return (
          <Button
            isSmall
            aria-pressed={binding.id === chosen}
            aria-label={`${word}: qualification of ${targetText(binding)}`}
            onClick={() => onChoose(binding.id)}
          >
            {word}
          </Button>
        );
      }}
      renews={[['model-api-bindings']]}
    />
  );
}

const column = createColumnHelper<Binding>();

const COLUMNS = [
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

import type { Schemas } from '@slipway/sdk';
import { DataTable, type TableColumns } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { rangeText, argumentValueText } from './target-text.js';

type Engine = Schemas['TargetEngineDto'];
type Arg = Schemas['EngineArgDto'];

/** An operator's configuration has a handful; a page draws at most this many. */
const MOST_ENGINES = 20;
const MOST_ARGS = 60;

const COLUMNS: TableColumns<Arg> = [
  { header: 'Argument', accessorKey: 'name', cell: ({ getValue }) => <code>{getValue<string>()}</code> },
  { header: 'Type', accessorKey: 'type' },
  { header: 'Default', id: 'default', accessorFn: (arg) => argumentValueText(arg.default) },
  { header: 'Allowed values', id: 'range', accessorFn: rangeText },
  { header: 'Suggested values', id: 'tune', accessorFn: ({ tune }) => argumentValueText(tune) },
  {
    header: 'Trade-off',
    id: 'reason',
    accessorFn: ({ reason, quality }) => [reason, quality && 'may change the output'].filter(Boolean).join('; '),
  },
];

/** The engines that a revision may name, and their arguments. */
export function Engines({ target, engines }: { target: string; engines: Engine[] }) {
  if (engines.length === 0)
    return <p className="text-sm text-soft">No engines. This target adopts servers that already run.</p>;
  return (
    <div className="space-y-1">
      {engines.slice(0, MOST_ENGINES).map((engine) => (
        <details key={engine.name} className="rounded border border-line">
          <summary className="cursor-pointer px-2 py-1.5 text-sm">
            <code className="font-medium">{engine.name}</code>
            {engine.template && <span className="text-soft"> from template {engine.template}</span>}
            <span className="text-soft">
              , {engine.args.length} arguments, {engine.env.length} variables
            </span>
          </summary>
          <Declared target={target} engine={engine} />
        </details>
      ))}
    </div>
  );
}

function Declared({ target, engine: { name, args, declared, env } }: { target: string; engine: Engine }) {
  // An older api only names them.
  const rows = (declared ?? args.map((arg): Arg => ({ name: arg, type: '' }))).slice(0, MOST_ARGS);
  return (
    <div className="space-y-2 border-t border-line p-2">
      {rows.length === 0 ? (
        <EmptyState title="No arguments" />
      ) : (
        <DataTable
          caption={`Arguments of ${name} on ${target}`}
          columns={COLUMNS}
          rows={rows}
          idOf={(arg) => arg.name}
        />
      )}
      {env.length > 0 && (
        <p className="text-sm break-words">
          Environment: <code>{env.slice(0, MOST_ARGS).join(', ')}</code>
        </p>
      )}
    </div>
  );
}

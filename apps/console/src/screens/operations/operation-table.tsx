import type { Operation } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';
import { actorName } from '../../api/actor-name.js';
import { Chip } from '../../ui/chip.js';
import { DataTable, type TableColumns } from '../../ui/data-table.js';
import { Time, useNow } from '../../ui/time.js';
import { waitCommand, waitNoun } from '../../rollouts/waiting-text.js';
import { CopyButton } from '../../ui/copy.js';
import { concernOf } from './concern.js';
import { oneLine } from '../../ui/text/one-line.js';
import { ResourceLink } from './resource-link.js';

/** Of a message: the page of the operation has all of it. */
const MOST_TEXT = 200;

const COLUMNS: TableColumns<Operation> = [
  {
    header: 'Operation',
    accessorKey: 'kind',
    cell: ({ row: { original } }) => (
      <Link to="/operations/$id" params={{ id: original.id }} className="whitespace-nowrap underline">
        {original.kind}
        <span className="sr-only"> of {original.resource_name}</span>
      </Link>
    ),
  },
  { header: 'Resource', accessorKey: 'resource_name', cell: ({ row: { original } }) => <ResourceLink of={original} /> },
  {
    header: 'Status',
    accessorKey: 'status',
    cell: ({ row: { original } }) => (
      <>
        <Chip word={original.status} />
        {original.waiting_for && <span className="block text-xs text-soft">for {waitNoun(original.waiting_for)}</span>}
      </>
    ),
  },
  {
    header: 'Step',
    accessorKey: 'progress',
    cell: ({ row: { original } }) => (
      <span className="whitespace-nowrap">
        <code>{original.current_step}</code> <span className="text-soft tabular-nums">{original.progress} %</span>
      </span>
    ),
  },
  {
    header: 'Attention',
    id: 'concern',
    enableSorting: false,
    cell: ({ row: { original } }) => <ToLookAt operation={original} />,
  },
  {
    header: 'Requested by',
    id: 'by',
    accessorFn: ({ requested_by }) => actorName(requested_by),
    cell: ({ getValue, row: { original } }) => (
      <span className="text-xs whitespace-nowrap" title={original.requested_by.id}>
        {getValue<string>()}
      </span>
    ),
  },
  { header: 'Created', accessorKey: 'created_at', cell: ({ row: { original } }) => <Time at={original.created_at} /> },
  { header: 'Updated', accessorKey: 'updated_at', cell: ({ row: { original } }) => <Time at={original.updated_at} /> },
];

export function OperationTable({ rows, caption }: { rows: Operation[]; caption: string }) {
  return <DataTable caption={caption} columns={COLUMNS} rows={rows} idOf={({ id }) => id} />;
}

function ToLookAt({ operation }: { operation: Operation }) {
  const now = useNow();
  if (operation.error_code)
    return (
      <span className="block min-w-40 text-xs" title={operation.message}>
        <code>{operation.error_code}</code> {oneLine(operation.message, MOST_TEXT)}
      </span>
    );
  const concern = concernOf(operation, now);
  const command = waitCommand(operation);
  if (concern)
    return (
      <span className="inline-flex items-center">
        <Chip word={concern.text} tone={concern.rank > 3 ? 'bad' : 'warn'} />
        {command && <CopyButton text={command} label={`Copy ${command}`} />}
      </span>
    );
  return (
    <span className="block min-w-40 text-xs text-soft" title={operation.message}>
      {oneLine(operation.message, MOST_TEXT)}
    </span>
  );
}

import type { AnswerOf } from '@slipway/sdk';
import { Chip } from '../../ui/chip.js';
import { DataTable, type TableColumns } from '../../ui/data-table.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';

type System = AnswerOf<'getSystem'>;
type Worker = NonNullable<System['workers']>[number];
type Gateway = NonNullable<System['gateways']>[number];

/** More processes than any installation runs. */
const MOST_ROWS = 200;

const alike = <Row extends Pick<Worker, 'id' | 'is_alive' | 'started_at' | 'seen_at'>>(): TableColumns<Row> => [
  {
    header: 'Process',
    accessorFn: ({ id }) => id,
    id: 'id',
    cell: ({ getValue }) => <code>{getValue<string>()}</code>,
  },
  {
    header: 'State',
    id: 'state',
    accessorFn: ({ is_alive }) => (is_alive ? 'alive' : 'silent'),
    cell: ({ getValue }) => <Chip word={getValue<string>()} tone={getValue<string>() === 'alive' ? 'good' : 'bad'} />,
  },
  {
    header: 'Last seen',
    id: 'seen_at',
    accessorFn: ({ seen_at }) => seen_at,
    cell: ({ getValue }) => <Time at={getValue<string>()} />,
  },
  {
    header: 'Started',
    id: 'started_at',
    accessorFn: ({ started_at }) => started_at,
    cell: ({ getValue }) => <Time at={getValue<string>()} />,
  },
];

const WORKERS: TableColumns<Worker> = [...alike<Worker>(), { header: 'Version', accessorKey: 'version' }];

const GATEWAYS: TableColumns<Gateway> = [
  ...alike<Gateway>(),
  { header: 'Routes', accessorKey: 'routes' },
  {
    header: 'Outdated routes',
    accessorKey: 'routes_behind',
    cell: ({ getValue }) =>
      getValue<number>() === 0 ? 'none' : <Chip word={`${getValue<number>()} outdated`} tone="warn" />,
  },
  {
    header: 'Statistics until',
    accessorKey: 'statistics_until',
    cell: ({ getValue }) => <Time at={getValue<string | null>()} />,
  },
];

export function Workers({ workers }: { workers: Worker[] }) {
  return (
    <Panel title="Workers">
      {workers.some(({ is_alive }) => is_alive) || (
        <p className="mb-2 rounded-md bg-bad-soft p-2 text-sm text-bad">
          No worker is polling. Operations wait until a worker starts. Start one, or check its log.
        </p>
      )}
      <DataTable
        caption="Worker processes"
        columns={WORKERS}
        rows={workers.slice(0, MOST_ROWS)}
        idOf={({ id }) => id}
      />
    </Panel>
  );
}

export function Gateways({ gateways }: { gateways: Gateway[] }) {
  return (
    <Panel title="Gateways">
      {gateways.some(({ is_alive }) => is_alive) || (
        <p className="mb-2 rounded-md bg-bad-soft p-2 text-sm text-bad">
          No gateway is running. No requests are served until a gateway starts.
        </p>
      )}
      <DataTable
        caption="Gateway processes"
        columns={GATEWAYS}
        rows={gateways.slice(0, MOST_ROWS)}
        idOf={({ id }) => id}
      />
    </Panel>
  );
}

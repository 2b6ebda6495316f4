import type { Schemas } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';
import { Chip, type Tone } from '../../ui/chip.js';
import { DataTable, type TableColumns } from '../../ui/data-table.js';
import { deviceState, memoryText } from './target-text.js';

type Device = Schemas['TargetDeviceDto'];

const TONES: Record<ReturnType<typeof deviceState>, Tone> = {
  free: 'good',
  'in use': 'info',
  'used by others': 'warn',
  unavailable: 'bad',
};
/** The holders of one device: memory bounds them, and the rows are bounded anyway. */
const MOST_HOLDERS = 16;

const COLUMNS: TableColumns<Device> = [
  { header: 'Device', accessorKey: 'index' },
  {
    header: 'Name',
    accessorKey: 'name',
    cell: ({ row: { original } }) => <span title={original.uuid}>{original.name}</span>,
  },
  {
    header: 'State',
    id: 'state',
    accessorFn: deviceState,
    cell: ({ getValue }) => {
      const state = getValue<ReturnType<typeof deviceState>>();
      return <Chip word={state} tone={TONES[state]} />;
    },
  },
  {
    header: 'Memory in use',
    accessorKey: 'used_mb',
    cell: ({ row: { original } }) => (
      <span className="whitespace-nowrap tabular-nums">
        {memoryText(original.used_mb)} of {memoryText(original.memory_mb)}
        {original.foreign_mb > 0 && `, ${memoryText(original.foreign_mb)} of it by others`}
      </span>
    ),
  },
  {
    header: 'Used by',
    id: 'holders',
    enableSorting: false,
    cell: ({ row: { original } }) => <Holders of={original.holders} />,
  },
  { header: 'Problem', accessorKey: 'problem', cell: ({ getValue }) => getValue<string | null>() ?? '' },
];

export function Devices({ target, devices }: { target: string; devices: Device[] }) {
  return (
    <DataTable
      caption={`Devices of ${target}`}
      columns={COLUMNS}
      rows={devices.slice(0, 64)}
      idOf={({ uuid }) => uuid}
    />
  );
}

function Holders({ of }: { of: Device['holders'] }) {
  return (
    <ul>
      {of.slice(0, MOST_HOLDERS).map(({ revision, memory_mb, ending }, index) => (
        <li key={index} className="whitespace-nowrap">
          {revision ? <RevisionLink revision={revision} /> : 'another tenant'}
          {memory_mb !== null && `, ${memoryText(memory_mb)}`}
          {ending && ', stopping'}
        </li>
      ))}
    </ul>
  );
}

/** A revision's name contains its deployment: `chat-00003`. */
function RevisionLink({ revision }: { revision: string }) {
  const name = revision.replace(/-\d+$/, '');
  return (
    <Link to="/deployments/$name" params={{ name }} className="underline">
      {revision}
    </Link>
  );
}

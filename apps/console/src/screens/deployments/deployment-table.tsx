import type { Schemas } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';
import { deploymentWaitCommand, waitNoun } from '../../rollouts/waiting-text.js';
import { Chip } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { CopyButton } from '../../ui/copy.js';
import { DataTable, type TableColumns } from '../../ui/data-table.js';
import { oneLine } from '../../ui/text/one-line.js';
import { Time } from '../../ui/time.js';
import type { ShownDeployment } from './filter.js';
import { Sparkline } from './sparkline.js';

type TrafficShares = Pick<Schemas['DeploymentDto'], 'route' | 'active_revision'>;

/** No route has this many; the rest is shown as a number. */
const MOST_TARGETS = 8;

/** Shows the shares of the traffic: the stable revision next to the candidate. */
function TrafficBar({ of: { route, active_revision } }: { of: TrafficShares }) {
  const targets = (route?.targets ?? []).filter(({ weight }) => weight > 0);
  if (targets.length === 0) return <span className="text-xs text-soft">no traffic</span>;
  return (
    <div className="min-w-40 space-y-1">
      <div aria-hidden className="flex h-2 overflow-hidden rounded-full bg-sunken">
        {targets.slice(0, MOST_TARGETS).map(({ revision, weight }) => (
          <span
            key={revision}
            style={{ width: `${weight}%` }}
            className={revision === active_revision ? 'bg-baseline' : 'bg-candidate'}
          />
        ))}
      </div>
      <p className="text-xs whitespace-nowrap">
        {targets.slice(0, MOST_TARGETS).map(({ revision, weight }, index) => (
          <span key={revision}>
            {index > 0 && ', '}
            <span className="tabular-nums">{weight} %</span> {revision.slice(revision.lastIndexOf('-') + 1)}
          </span>
        ))}
        {targets.length > MOST_TARGETS && `, ${targets.length - MOST_TARGETS} more`}
      </p>
    </div>
  );
}

const MOST_LABELS = 4;
/** Of a message: the page of the deployment has all of it. */
const MOST_TEXT = 160;

/** Each one sends its own request every half minute, so only as many rows as a window shows. */
const MOST_SPARKLINES = 20;

const COLUMNS: TableColumns<ShownDeployment> = [
  {
    header: 'Name',
    accessorKey: 'name',
    cell: ({ row: { original } }) => (
      <>
        <Link to="/deployments/$name" params={{ name: original.name }} className="font-medium underline">
          {original.name}
        </Link>
        {original.display_name && <p className="text-xs text-soft">{original.display_name}</p>}
      </>
    ),
  },
  { header: 'State', accessorKey: 'state', cell: ({ row: { original } }) => <State of={original} /> },
  {
    header: 'Traffic',
    id: 'traffic',
    enableSorting: false,
    cell: ({ row: { original } }) => <TrafficBar of={original} />,
  },
  {
    header: 'Requests, 15 min',
    id: 'requests',
    enableSorting: false,
    cell: ({ row: { index, original } }) => index < MOST_SPARKLINES && <Sparkline name={original.name} />,
  },
  {
    header: 'Instances',
    id: 'replicas',
    accessorFn: ({ replicas }) => replicas.ready,
    cell: ({ row: { original } }) => (
      <span className="whitespace-nowrap tabular-nums">
        {original.replicas.ready} of {original.replicas.desired} ready
      </span>
    ),
  },
  { header: 'Environment', accessorKey: 'environment', cell: ({ getValue }) => getValue<string | null>() ?? '' },
  {
    header: 'Labels',
    id: 'labels',
    enableSorting: false,
    cell: ({ row: { original } }) => <Labels of={original.labels} />,
  },
  { header: 'Updated', accessorKey: 'updated_at', cell: ({ row: { original } }) => <Time at={original.updated_at} /> },
];

export function DeploymentTable({ rows }: { rows: ShownDeployment[] }) {
  return (
    <DataTable
      caption="Deployments"
      columns={COLUMNS}
      rows={rows}
      idOf={({ id }) => id}
      className="rounded-lg border border-line bg-panel p-1"
    />
  );
}

/** Shows the chip, the reason if something is wrong, and a link to the running operation. */
function State({ of }: { of: ShownDeployment }) {
  const wrong = of.conditions.find(({ type, status }) => type === 'Degraded' && status === 'True');
  return (
    <div className="space-y-0.5">
      <span className="flex items-center gap-2">
        <Chip word={of.state} />
        {of.current_operation_id && (
          <Link
            to="/operations/$id"
            params={{ id: of.current_operation_id }}
            className="text-xs whitespace-nowrap underline"
          >
            Show operation<span className="sr-only"> of {of.name}</span>
          </Link>
        )}
      </span>
      <WaitText of={of} />
      {wrong && (
        <p className="min-w-40 text-xs text-soft" title={wrong.message}>
          {oneLine(wrong.message, MOST_TEXT)}
        </p>
      )}
    </div>
  );
}

/** Shows what its operation waits for, and copies the line to type if a person is needed. */
function WaitText({ of: { name, waiting_for } }: { of: ShownDeployment }) {
  if (!waiting_for) return null;
  const command = deploymentWaitCommand(name, waiting_for);
  return (
    <p className={classes('flex items-center text-xs', command ? 'text-warn' : 'text-soft')}>
      waits for {waitNoun(waiting_for)}
      {command && <CopyButton text={command} label={`Copy ${command}`} />}
    </p>
  );
}

function Labels({ of }: { of: Record<string, string> }) {
  const pairs = Object.entries(of);
  return (
    <span className="flex flex-wrap gap-1">
      {pairs.slice(0, MOST_LABELS).map(([key, value]) => (
        <Link
          key={key}
          to="/deployments"
          search={(now: Record<string, unknown>) => ({ ...now, label: `${key}=${value}` })}
          title={`Filter by ${key}=${value}`}
          className="rounded bg-sunken px-1.5 text-xs hover:underline"
        >
          {key}={value}
        </Link>
      ))}
      {pairs.length > MOST_LABELS && <span className="text-xs text-soft">{pairs.length - MOST_LABELS} more</span>}
    </span>
  );
}

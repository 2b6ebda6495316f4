import { Link } from '@tanstack/react-router';
import type { Plan } from '../../api/items.js';
import { PlanRolloutLine } from '../../rollouts/plan-rollout.js';
import { planActorText } from '../../rollouts/plan-text.js';
import { RiskChip } from '../../rollouts/risk-chip.js';
import { Chip } from '../../ui/chip.js';
import { DataTable, type TableColumns } from '../../ui/data-table.js';
import { Time } from '../../ui/time.js';

const COLUMNS: TableColumns<Plan> = [
  {
    header: 'Plan',
    accessorKey: 'summary',
    cell: ({ row: { original } }) => (
      <Link to="/plans/$id" params={{ id: original.id }} className="block min-w-40 font-medium underline">
        {original.summary || <code className="text-xs">{original.id}</code>}
      </Link>
    ),
  },
  {
    header: 'Deployment',
    accessorKey: 'deployment',
    cell: ({ row: { original } }) => (
      <Link to="/deployments/$name" params={{ name: original.deployment }} className="underline">
        {original.deployment}
      </Link>
    ),
  },
  {
    header: 'Rollout',
    id: 'rollout',
    enableSorting: false,
    cell: ({ row: { original } }) => <PlanRolloutLine plan={original} />,
  },
  {
    header: 'State',
    id: 'state',
    accessorFn: ({ approval }) => approval.state,
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap gap-1">
        <Chip word={original.approval.state} />
        {original.stale && <Chip word="stale" />}
        <RiskChip level={original.risk.level} />
      </span>
    ),
  },
  {
    header: 'Approvals',
    id: 'approvals',
    enableSorting: false,
    cell: ({ row: { original } }) => (
      <span className="whitespace-nowrap tabular-nums">
        {original.approval.approvals.length} of {original.approval.approvals_required}
      </span>
    ),
  },
  {
    header: 'Created by',
    id: 'by',
    accessorFn: ({ created_by }) => planActorText(created_by),
    cell: ({ row: { original } }) => (
      <>
        <span className="block break-words">{planActorText(original.created_by)}</span>
        <span className="text-xs text-soft">
          <Time at={original.created_at} />
        </span>
      </>
    ),
  },
  { header: 'Expires', accessorKey: 'expires_at', cell: ({ row: { original } }) => <Time at={original.expires_at} /> },
];

export function PlanTable({ rows, caption }: { rows: Plan[]; caption: string }) {
  return <DataTable caption={caption} columns={COLUMNS} rows={rows} idOf={({ id }) => id} />;
}

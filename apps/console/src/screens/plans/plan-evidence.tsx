import { createColumnHelper } from '@tanstack/react-table';
import { DataTable } from '../../ui/data-table.js';
import { Time } from '../../ui/time.js';
import { deltaOf, comparedNumberText, percentText, type Evidence } from './plan-facts.js';
import { oneLine } from '../../ui/text/one-line.js';

/** Of a digest: enough to distinguish two. */
const MOST_DIGEST = 19;

type EvidenceRow = Evidence & { key: string };

/** The author's evidence for the plan. The numbers are the author's; the page only compares them with each other. */
export function PlanEvidence({ evidence }: { evidence: Evidence[] }) {
  if (evidence.length === 0) return <p className="text-sm text-soft">The author provided no evidence.</p>;
  const rows = evidence.map((one, index) => ({ ...one, key: String(index) }));
  return <DataTable caption="Baseline and candidate" columns={COLUMNS} rows={rows} idOf={({ key }) => key} />;
}

const column = createColumnHelper<EvidenceRow>();

const COLUMNS = [
  column.accessor(({ metric, stat }) => (stat ? `${metric} ${stat}` : metric), {
    id: 'metric',
    header: 'Metric',
    cell: ({ getValue }) => <span className="font-medium break-words">{getValue()}</span>,
  }),
  column.accessor(({ baseline }) => baseline?.value, {
    id: 'baseline',
    header: 'Baseline',
    cell: ({ row: { original } }) => <Measured of={original.baseline} />,
  }),
  column.accessor(({ candidate }) => candidate?.value, {
    id: 'candidate',
    header: 'Candidate',
    cell: ({ row: { original } }) => <Measured of={original.candidate} />,
  }),
  column.accessor((row) => deltaOf(row)?.percent, {
    id: 'delta',
    header: 'Delta',
    cell: ({ row: { original } }) => <DeltaCell evidence={original} />,
  }),
  column.accessor('kind', {
    header: 'Source',
    cell: ({ getValue, row: { original } }) => (
      <>
        {getValue()}
        {original.tool && <span className="block text-xs break-words text-soft">{original.tool}</span>}
      </>
    ),
  }),
  column.accessor('collected_at', {
    header: 'Collected',
    cell: ({ getValue }) => (getValue() ? <Time at={getValue()} /> : <span className="text-soft">not specified</span>),
  }),
  column.accessor('digest', {
    header: 'Data digest',
    cell: ({ getValue }) => {
      const digest = getValue();
      if (!digest) return <span className="text-soft">none</span>;
      return (
        <code className="text-xs" title={digest}>
          {oneLine(digest, MOST_DIGEST)}
        </code>
      );
    },
  }),
];

function Measured({ of: measured }: { of: Evidence['baseline'] }) {
  if (!measured || measured.value === null || measured.value === undefined)
    return <span className="text-soft">not measured</span>;
  return (
    <>
      {comparedNumberText(measured.value)}
      <span className="block text-xs text-soft">n = {measured.n ?? 0}</span>
    </>
  );
}

function DeltaCell({ evidence }: { evidence: Evidence }) {
  const delta = deltaOf(evidence);
  if (!delta) return <span className="text-soft">unknown</span>;
  return (
    <>
      <span className="whitespace-nowrap">{percentText(delta.percent)}</span>
      {delta.computed !== null && (
        <span className="block rounded bg-warn-soft px-1 text-xs text-warn">
          computed from the values: {percentText(delta.computed)}
        </span>
      )}
    </>
  );
}

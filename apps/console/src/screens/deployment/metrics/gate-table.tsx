import type { DeploymentEvent } from '@slipway/sdk';
import type { Operation } from '../../../api/operation-state.js';
import {
  limitText,
  resultsOf,
  type GateResult,
  type LimitedMetric,
  type MeasuredValue,
} from '../../../rollouts/verdicts.js';
import { Chip, type Tone } from '../../../ui/chip.js';
import { Fitted, TitledTable, type TitledRow } from '../../../ui/fitted-table.js';
import {
  limitOf,
  metricValueOf,
  gatePositionOf,
  statOf,
  type Gate,
  type GatePosition,
  type RevisionMetrics,
} from './metric-series.js';
import { listOf, objectOf, objectsOf } from '../../../ui/text/json-shape.js';
import { numberText } from '../../../ui/text/number-text.js';

/** Of a gate: no rollout has more. */
const MOST_GATES = 20;

const TONES: Record<GatePosition, Tone> = { within: 'good', beyond: 'bad', 'too few samples': 'warn' };

export function gatesOf(operation: Operation | undefined): Gate[] {
  const { metrics, guards } = objectOf(operation?.result['gate']);
  const all = [...listOf(metrics), ...objectsOf(guards).map((one) => ({ ...one, check: 'guard' }))];
  return all.slice(0, MOST_GATES) as Gate[];
}

/**
 * Returns the last analysis: a finished step stores it as its evidence, and for a paused step the event contains
 * it. Values of an unknown shape are ignored.
 */
function analysisOf(
  { id, steps }: Operation,
  event: DeploymentEvent | null,
): { step: string; metrics: GateResult[] } | undefined {
  const step = steps.findLast(({ name, evidence }) => name.startsWith('analyze:') && evidence);
  const told = event?.operationid === id ? event : undefined;
  const analysis = told?.data ?? step?.evidence;
  if (!Array.isArray(analysis?.['metrics'])) return undefined;
  return { step: String(told?.data['step'] ?? step?.name), metrics: resultsOf(analysis) };
}

const TITLES = ['Metric', 'Limit', 'Candidate (n)', 'Baseline (n)', 'Verdict'];

interface GateTableProps {
  operation: Operation;
  /** The newest analysis event here, of any operation. */
  analysis: DeploymentEvent | null;
  candidate: RevisionMetrics | undefined;
  baseline: RevisionMetrics | undefined;
}

/**
 * The gate of a rollout: its limits, and the values of both revisions, from the last analysis or the current ones. One
 * line for each metric, because the charts follow; the operation's page also has the bounds.
 */
export function GateTable({ operation, analysis, candidate, baseline }: GateTableProps) {
  const gates = gatesOf(operation);
  if (gates.length === 0) return null;
  const told = analysisOf(operation, analysis);
  return (
    <Fitted>
      <TitledTable
        isCaptionShown
        isSmall
        caption={
          <>
            Gate: the rollout continues if all metrics are within their limits, and stops if one is not.{' '}
            {told ? `Verdicts of ${told.step}.` : 'The verdict follows at the end of the soak. Current values:'}
          </>
        }
        titles={TITLES}
        rows={gates.map((gate) => rowOf(gate, told?.metrics ?? [], { candidate, baseline }))}
      />
    </Fitted>
  );
}

function rowOf(
  gate: Gate,
  results: readonly GateResult[],
  revisions: Pick<GateTableProps, 'candidate' | 'baseline'>,
): TitledRow {
  const { name, check, dry_run } = gate;
  const stat = statOf(gate);
  const result = results.find((one) => one.metric === name && one.stat === stat && one.check === check);
  const now = (of: RevisionMetrics | undefined): MeasuredValue =>
    of ? metricValueOf(of.total, name, stat) : { value: null, samples: 0 };
  const candidate = result?.candidate ?? now(revisions.candidate);
  const baseline = result?.baseline ?? now(revisions.baseline);
  const position = gatePositionOf(gate, candidate, limitOf(gate, baseline.value));
  return {
    key: `${name} ${stat} ${check}`,
    cells: [
      <>
        {name}
        {stat !== 'rate' && ` ${stat}`}
        {dry_run && <span className="font-normal text-soft"> (dry run)</span>}
      </>,
      limitText(result ?? expectedOf(gate, baseline)),
      <MeasureCell key="candidate" of={candidate} />,
      <MeasureCell key="baseline" of={baseline} />,
      result ? (
        <Chip key="verdict" word={result.verdict} />
      ) : (
        <Chip key="verdict" word={position} tone={TONES[position]}>
          {position === 'too few samples' ? 'few samples' : position}
        </Chip>
      ),
    ],
  };
}

/** Returns the limit of a metric before its first verdict. A guard has no baseline while that has no requests. */
const expectedOf = (
  { name, check, operator, threshold, max_regression_percent, max_difference }: Gate,
  baseline: MeasuredValue,
): LimitedMetric => ({
  metric: name,
  check,
  operator,
  limit: { guard: max_difference, regression: max_regression_percent }[check] ?? threshold ?? Number.NaN,
  baseline: baseline.value === null ? null : baseline,
});

const MeasureCell = ({ of }: { of: MeasuredValue }) => (
  <span className="whitespace-nowrap">
    {numberText(of.value)} <span className="text-soft">({of.samples})</span>
  </span>
);

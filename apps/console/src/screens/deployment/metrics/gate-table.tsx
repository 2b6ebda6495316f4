import type { DeploymentEvent } from '@slipway/sdk';
import type { Operation } from '../../../api/operation-state.js';
import { comparedBy, resultsOf, type GateResult, type MeasuredValue } from '../../../rollouts/verdicts.js';
import { Chip, type Tone } from '../../../ui/chip.js';
import { Fitted } from '../../../ui/fitted-table.js';
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

const TITLES = ['Metric', 'Limit', 'Candidate (n)', 'Baseline (n)', 'Regression (bounds)', 'Verdict'];

interface GateTableProps {
  operation: Operation;
  /** The newest analysis event here, of any operation. */
  analysis: DeploymentEvent | null;
  candidate: RevisionMetrics | undefined;
  baseline: RevisionMetrics | undefined;
}

/** The gate of a rollout: its limits, the current values of both revisions, and the last analysis with its bounds. */
export function GateTable({ operation, analysis, candidate, baseline }: GateTableProps) {
  const gates = gatesOf(operation);
  if (gates.length === 0) return null;
  const told = analysisOf(operation, analysis);
  return (
    <Fitted>
      <table role="table" className="w-full border-collapse text-left text-xs">
        <caption className="pb-1 text-left text-soft">
          Gate: the rollout continues if all metrics are within their limits, and stops if one is not.{' '}
          {told ? `Verdicts of ${told.step}.` : 'The verdict follows at the end of the soak. Current values:'}
        </caption>
        <thead role="rowgroup" className="text-soft">
          <tr role="row">
            {TITLES.map((title) => (
              <th key={title} scope="col" role="columnheader" className="pr-2">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {gates.map((gate) => {
            const stat = statOf(gate);
            const result = told?.metrics.find(
              (one) => one.metric === gate.name && one.stat === stat && one.check === gate.check,
            );
            return (
              <GateRow
                key={`${gate.name} ${stat} ${gate.check}`}
                gate={gate}
                stat={stat}
                result={result}
                candidate={candidate}
                baseline={baseline}
              />
            );
          })}
        </tbody>
      </table>
    </Fitted>
  );
}

interface GateRowProps extends Pick<GateTableProps, 'candidate' | 'baseline'> {
  gate: Gate;
  stat: string;
  result: GateResult | undefined;
}

function GateRow({ gate, stat, result, candidate, baseline }: GateRowProps) {
  const now = (of: RevisionMetrics | undefined): MeasuredValue =>
    of ? metricValueOf(of.total, gate.name, stat) : { value: null, samples: 0 };
  const shown = { candidate: result?.candidate ?? now(candidate), baseline: result?.baseline ?? now(baseline) };
  const limit = limitOf(gate, shown.baseline.value);
  const standing = gatePositionOf(gate, shown.candidate, limit);
  return (
    <tr role="row" className="border-t border-line">
      <th scope="row" role="rowheader" data-label="Metric" className="py-0.5 pr-2 font-medium">
        {gate.name} {stat}
        {gate.dry_run && <span className="text-soft"> (dry run)</span>}
      </th>
      <td role="cell" data-label="Limit" className="pr-2">
        {limitText(gate)}
      </td>
      <td role="cell" data-label="Candidate (n)" className="pr-2 whitespace-nowrap">
        <MeasureCell of={shown.candidate} />
      </td>
      <td role="cell" data-label="Baseline (n)" className="pr-2 whitespace-nowrap">
        <MeasureCell of={shown.baseline} />
      </td>
      <td role="cell" data-label="Regression (bounds)" className="pr-2">
        {result ? boundsText(result) : '–'}
      </td>
      <td role="cell" data-label="Verdict">
        {result ? <Chip word={result.verdict} /> : <Chip word={standing} tone={TONES[standing]} />}
      </td>
    </tr>
  );
}

function limitText(gate: Gate): string {
  if (gate.check === 'guard') return `≤ ${numberText(100 * (gate.max_difference ?? 0))} points more`;
  if (gate.check === 'threshold') return `${comparedBy(gate.name, gate.operator)} ${numberText(gate.threshold)}`;
  return `≤ ${numberText(gate.max_regression_percent)} % worse`;
}

const MeasureCell = ({ of }: { of: MeasuredValue }) => (
  <>
    {numberText(of.value)} <span className="text-soft">({of.samples})</span>
  </>
);

function boundsText({ regression_percent, regression_bound_percent, regression_upper_percent }: GateResult): string {
  if (typeof regression_percent !== 'number') return '–';
  return `${numberText(regression_percent)} % (${numberText(regression_bound_percent)} to ${numberText(regression_upper_percent)})`;
}

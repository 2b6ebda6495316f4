import type { DeploymentEvent } from '@slipway/sdk';
import type { Operation } from '../../../api/operation-state.js';
import { Chip, type Tone } from '../../../ui/chip.js';
import {
  comparedBy,
  limitOf,
  metricValueOf,
  gatePositionOf,
  statOf,
  type Gate,
  type GatePosition,
  type RevisionMetrics,
} from './metric-series.js';
import { numberText } from '../../../ui/text/number-text.js';

interface MeasuredValue {
  value: number | null;
  samples: number;
}

/** The result of an analysis for one metric, as its step stores it. */
interface GateResult {
  metric: string;
  stat: string;
  check: string;
  verdict: string;
  candidate: MeasuredValue | null;
  baseline: MeasuredValue | null;
  limit: number;
  regression_percent: number | null;
  regression_bound_percent: number | null;
  regression_upper_percent: number | null;
}

const TONES: Record<GatePosition, Tone> = { within: 'good', beyond: 'bad', 'too few samples': 'warn' };

export function gatesOf(operation: Operation | undefined): Gate[] {
  const gate = operation?.result['gate'] as { metrics?: Gate[]; guards?: Gate[] } | null | undefined;
  const guards = listOf<Gate>(gate?.guards).map((one) => ({ ...one, check: 'guard' }));
  return [...listOf<Gate>(gate?.metrics), ...guards].slice(0, 20);
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
  const judgement = told?.data ?? step?.evidence;
  if (!Array.isArray(judgement?.['metrics'])) return undefined;
  const metrics = [...listOf<GateResult>(judgement['metrics']), ...listOf<GateResult>(judgement['guards'])];
  return { step: String(told?.data['step'] ?? step?.name), metrics };
}

const listOf = <T,>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);

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
    <table className="w-full border-collapse text-left text-xs">
      <caption className="pb-1 text-left text-soft">
        Gate: the rollout continues if all metrics are within their limits, and stops if one is not.{' '}
        {told ? `Verdicts of ${told.step}.` : 'The verdict follows at the end of the soak. Current values:'}
      </caption>
      <thead className="text-soft">
        <tr>
          <th scope="col">Metric</th>
          <th scope="col">Limit</th>
          <th scope="col">Candidate (n)</th>
          <th scope="col">Baseline (n)</th>
          <th scope="col">Regression (bounds)</th>
          <th scope="col">Verdict</th>
        </tr>
      </thead>
      <tbody>
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
    <tr className="border-t border-line">
      <th scope="row" className="py-0.5 pr-2 font-medium">
        {gate.name} {stat}
        {gate.dry_run && <span className="text-soft"> (dry run)</span>}
      </th>
      <td className="pr-2 whitespace-nowrap">{limitText(gate)}</td>
      <td className="pr-2 whitespace-nowrap">
        <MeasureCell of={shown.candidate} />
      </td>
      <td className="pr-2 whitespace-nowrap">
        <MeasureCell of={shown.baseline} />
      </td>
      <td className="pr-2 whitespace-nowrap">{result ? boundsText(result) : '–'}</td>
      <td>{result ? <Chip word={result.verdict} /> : <Chip word={standing} tone={TONES[standing]} />}</td>
    </tr>
  );
}

function limitText(gate: Gate): string {
  if (gate.check === 'guard') return `≤ ${numberText(100 * (gate.max_difference ?? 0))} points more`;
  if (gate.check === 'threshold') return `${comparedBy(gate)} ${numberText(gate.threshold)}`;
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

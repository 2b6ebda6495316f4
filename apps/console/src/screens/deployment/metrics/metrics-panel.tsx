import { DISTRIBUTIONS, METRICS, type Distribution } from '@slipway/sdk';
import type { Operation } from '../../../api/operation-state.js';
import { useAddress } from '../../../api/search.js';
import { comparedBy } from '../../../rollouts/verdicts.js';
import { Chart, ChartLegend, type ChartLine } from '../../../ui/chart.js';
import { EmptyState } from '../../../ui/empty-state.js';
import { Loaded } from '../../../ui/loaded.js';
import { Panel } from '../../../ui/panel.js';
import type { PlotMark } from '../../../ui/plot.js';
import { comparedRevisions, type RevisionPair } from './compared-revisions.js';
import { useAnalysis, useDeployment, useOperations } from '../deployment-data.js';
import { gatesOf, GateTable } from './gate-table.js';
import {
  CLASSES,
  limitOf,
  metricValueOf,
  rateOf,
  seriesOf,
  STATS,
  statOf,
  timesOf,
  type Metrics,
  type MetricsPoint,
  type RequestClass,
  type RevisionMetrics,
  type Stat,
} from './metric-series.js';
import { DEFAULT_RANGE, RANGES, useMetrics } from './metrics-data.js';
import { shownOperation } from '../../../api/operation-state.js';
import { Scrolled } from '../scrolled.js';
import { numberText } from '../../../ui/text/number-text.js';

interface ChartMeasure {
  title: string;
  unit: string;
  value: (point: MetricsPoint) => number | null;
  /** The value of a step without requests. */
  absent: number | null;
  /** The gate's name for it, its statistic, and the factor from its unit to the shown one. */
  gate?: { name: string; stat: string; times: number };
}

/** Compares the candidate with the baseline, and draws the gate's limits. */
export function MetricsPanel({ name, className }: { name: string; className?: string }) {
  const [address, change] = useAddress();
  const range = address['range'] && RANGES[address['range']] ? address['range'] : DEFAULT_RANGE;
  const stat = STATS.find((one) => one === address['stat']) ?? 'p95';
  const requestClass = CLASSES.find((one) => one === address['class']) ?? 'all';
  const metrics = useMetrics(name, range);
  return (
    <Panel
      title="Metrics"
      className={className}
      actions={
        <>
          <Choice
            label="Request class"
            value={requestClass}
            all={CLASSES}
            onChange={(value) => change({ class: value })}
          />
          <Choice label="Percentile" value={stat} all={STATS} onChange={(value) => change({ stat: value })} />
          <Choice
            label="Time range"
            value={range}
            all={Object.keys(RANGES)}
            onChange={(value) => change({ range: value })}
          />
        </>
      }
    >
      <Loaded query={metrics} what="the metrics">
        {(data) => <Charts name={name} metrics={data} stat={stat} requestClass={requestClass} />}
      </Loaded>
    </Panel>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  all: readonly string[];
  onChange: (value: string) => void;
}

const Choice = ({ label, value, all, onChange }: ChoiceProps) => (
  <select
    aria-label={label}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    className="h-7 rounded-md border border-line-strong bg-panel px-1 text-xs"
  >
    {all.map((one) => (
      <option key={one} value={one}>
        {one.replaceAll('_', ' ')}
      </option>
    ))}
  </select>
);

interface ChartsProps {
  name: string;
  metrics: Metrics;
  stat: Stat;
  requestClass: RequestClass;
}

function Charts({ name, metrics, stat, requestClass }: ChartsProps) {
  const { data: deployment } = useDeployment(name);
  const { data: operations } = useOperations(name);
  const { data: analysis } = useAnalysis(name);
  const operation = shownOperation(operations ?? []);
  if (metrics.data.length === 0)
    return <EmptyState title="No requests in this time range" command={`slipway deployments metrics ${name}`} />;
  const names = comparedRevisions(deployment, operation);
  const of = (revision: string | null) => metrics.data.find((one) => one.revision === revision);
  const [candidate, baseline] = [of(names.candidate), of(names.baseline)];
  const shown: { revision: RevisionMetrics; tone: ChartLine['tone'] }[] = [
    ...(baseline ? [{ revision: baseline, tone: 'baseline' as const }] : []),
    ...(candidate ? [{ revision: candidate, tone: 'candidate' as const }] : []),
  ];
  const times = timesOf(metrics);
  return (
    <Scrolled label="Charts and gate">
      <div className="pb-1">
        <ChartLegend lines={legendOf(names, { candidate, baseline })} />
      </div>
      {operation && names.isRollout && (
        <GateTable operation={operation} analysis={analysis ?? null} candidate={candidate} baseline={baseline} />
      )}
      <div className="mt-1 grid grid-cols-1 gap-x-3 gap-y-1 sm:grid-cols-2">
        {measuresOf(stat, requestClass).map((measure) => (
          <Chart
            key={measure.title}
            title={measure.title}
            unit={measure.unit}
            times={times}
            text={numberText}
            limits={limitsOf(measure, operation, baseline)}
            lines={shown.map(({ revision, tone }) => ({
              label: revision.revision,
              word: tone === 'candidate' && !names.isRollout ? 'active' : tone,
              tone,
              values: seriesOf(revision, times, measure.value, {
                value: measure.absent,
                until: metrics.complete_until,
              }),
            }))}
          />
        ))}
      </div>
    </Scrolled>
  );
}

/** Also names a revision without requests: its line is missing. */
function legendOf(
  { candidate, baseline, isRollout }: RevisionPair,
  metrics: Record<ChartLine['tone'], RevisionMetrics | undefined>,
): Pick<ChartLine, 'label' | 'tone'>[] {
  const entry = (tone: ChartLine['tone'], word: string, name: string | null) =>
    name ? [{ tone, label: `${word} ${name} (${LINES[tone]}): ${requestsText(metrics[tone])}` }] : [];
  return [
    ...entry('candidate', isRollout ? 'Candidate' : 'Active', candidate),
    ...entry('baseline', 'Baseline', baseline),
  ];
}

const LINES = { candidate: 'solid', baseline: 'dashed' };

const requestsText = (metrics: RevisionMetrics | undefined): string => (metrics ? classesText(metrics) : 'no requests');

function measuresOf(stat: Stat, requestClass: RequestClass): ChartMeasure[] {
  const distribution = (name: Distribution): ChartMeasure => ({
    title: METRICS[name].title,
    unit: `${METRICS[name].unit}, ${stat}`,
    value: (point) => metricValueOf(point, name, stat).value,
    absent: null,
    gate: { name, stat, times: 1 },
  });
  const isTime = (name: Distribution): boolean => METRICS[name].unit === 'ms';
  return [
    {
      title: requestClass === 'all' ? 'Requests' : `Requests: ${requestClass.replaceAll('_', ' ')}`,
      unit: 'per second',
      value: (point) => rateOf(point, requestClass),
      absent: 0,
    },
    {
      title: 'Errors',
      unit: '%',
      value: ({ error_rate: { rate } }) => (rate === null ? null : rate * 100),
      absent: null,
      gate: { name: 'error_rate', stat: 'rate', times: 100 },
    },
    ...DISTRIBUTIONS.filter(isTime).map(distribution),
    { title: 'Output tokens', unit: 'per second, total', value: (point) => point.tokens_out_per_s, absent: 0 },
    ...DISTRIBUTIONS.filter((name) => !isTime(name)).map(distribution),
    { title: 'Instances', unit: 'ready', value: ({ instances }) => instances, absent: null },
  ];
}

function limitsOf(
  { gate }: ChartMeasure,
  operation: Operation | undefined,
  baseline: RevisionMetrics | undefined,
): PlotMark[] {
  if (!gate) return [];
  return gatesOf(operation)
    .filter((one) => one.name === gate.name && statOf(one) === gate.stat)
    .flatMap((one) => {
      const base = baseline ? metricValueOf(baseline.total, one.name, gate.stat).value : null;
      const limit = limitOf(one, base);
      if (limit === null) return [];
      return [
        {
          value: limit * gate.times,
          label: `gate ${comparedBy(one.name, one.operator)} ${numberText(limit * gate.times)}`,
        },
      ];
    });
}

function classesText({ total: { attempts } }: RevisionMetrics): string {
  const { ok, client_error, server_error, connect_error, cancelled } = attempts;
  const told: [number, string][] = [
    [ok, 'ok'],
    [client_error, '4xx'],
    [server_error, '5xx'],
    [connect_error, 'failed to connect'],
    [cancelled, 'cancelled'],
  ];
  return told
    .filter(([n, word]) => n > 0 || word === 'ok')
    .map(([n, word]) => `${n} ${word}`)
    .join(', ');
}

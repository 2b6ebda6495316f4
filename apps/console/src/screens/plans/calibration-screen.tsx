import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { slipway } from '../../api/client.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Facts } from '../../ui/facts.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { metricText, rangeText } from '../../ui/text/number-text.js';
import {
  coverageText,
  factorOf,
  metricsOf,
  percentText,
  plotOf,
  stateText,
  widthText,
  type Calibration,
  type CalibrationKind,
  type CalibrationPlot,
} from './calibration-text.js';

/** Outcomes are rare. */
const RENEWED_MS = 60_000;

/** How close the predictions of executed plans were, for each kind of plan. */
export function CalibrationScreen() {
  const query = useQuery({
    queryKey: ['plans', 'calibration'],
    queryFn: ({ signal }) => slipway.autopilot.calibration.get({ signal }),
    refetchInterval: RENEWED_MS,
  });
  return (
    <>
      <ScreenHead title="Calibration" />
      <Loaded query={query} what="the calibration">
        {(calibration) => <CalibrationPanels calibration={calibration} />}
      </Loaded>
    </>
  );
}

function CalibrationPanels({ calibration }: { calibration: Calibration }) {
  return (
    <div className="space-y-3">
      <p className="max-w-prose text-sm">
        {stateText(calibration)} {widthText(calibration)}
      </p>
      {calibration.kinds.map((kind) => (
        <KindPanel key={kind.kind} kind={kind} calibration={calibration} />
      ))}
      {calibration.kinds.length === 0 && (
        <EmptyState
          title="No outcomes yet. Predicted and achieved values of executed plans are shown here."
          command="slipway autopilot calibration"
        />
      )}
    </div>
  );
}

function KindPanel({ kind, calibration }: { kind: CalibrationKind; calibration: Calibration }) {
  const { median_error_percent: error, bias_percent: bias, predictions } = kind;
  const name = kind.kind.replaceAll('_', ' ');
  return (
    <Panel title={name}>
      <div className="space-y-3">
        <p className="max-w-prose text-sm font-medium">{coverageText(kind, calibration.level_percent)}</p>
        <Facts of={{ 'median error': percentText(error), bias: percentText(bias, { isSigned: true }) }} />
        <div className="flex flex-wrap gap-4">
          {metricsOf(kind).map((metric) => {
            const plot = plotOf(metric, factorOf(calibration));
            return plot && <MetricPlot key={metric.name} name={metric.name} plot={plot} />;
          })}
        </div>
        {predictions.length > 0 && <PredictionNumbers kind={name} predictions={predictions} />}
      </div>
    </Panel>
  );
}

/** Achieved by predicted value, on logarithmic axes with the same ends, and the interval of new plans as a band. */
function MetricPlot({ name, plot: { dots, band, least, most, description } }: { name: string; plot: CalibrationPlot }) {
  return (
    <figure className="m-0 w-56 text-xs">
      <figcaption className="pb-1">
        <span className="block font-medium break-words">{name}</span>
        <span className="text-soft">achieved (up) by predicted (right)</span>
      </figcaption>
      <svg viewBox="0 0 100 100" role="img" aria-label={description} className="block w-full border border-line">
        <polygon points={band} className="fill-accent-soft" />
        <line x1="0" y1="100" x2="100" y2="0" className="stroke-line" vectorEffect="non-scaling-stroke" />
        {dots.map(({ x, y, isInside }, index) =>
          isInside ? (
            <circle key={index} cx={x} cy={y} r={1.6} className="fill-candidate" />
          ) : (
            // Differs in its form too, for people who do not see the colour.
            <rect key={index} x={x - 1.6} y={y - 1.6} width={3.2} height={3.2} className="fill-none stroke-bad" />
          ),
        )}
      </svg>
      <div aria-hidden className="flex justify-between text-soft tabular-nums">
        <span>{least}</span>
        <span>{most}</span>
      </div>
    </figure>
  );
}

const TITLES = ['Plan', 'Metric', 'Predicted', 'Achieved', 'Inside'];

/** The numbers of the pictures, for those who cannot see them or want to copy them. */
function PredictionNumbers({ kind, predictions }: { kind: string; predictions: CalibrationKind['predictions'] }) {
  return (
    <details className="text-xs">
      <summary className="cursor-pointer text-soft">Numbers of the newest predictions</summary>
      <div role="region" aria-label={`Predictions of ${kind}`} tabIndex={0} className="max-h-80 overflow-auto">
        <table className="mt-1 text-left tabular-nums">
          <caption className="sr-only">Predicted and achieved values, newest first</caption>
          <thead className="text-soft">
            <tr>
              {TITLES.map((title) => (
                <th key={title} scope="col" className="pr-4 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {predictions.map(({ plan_id: id, deployment, phase, metric, stat, predicted, achieved, within }) => (
              <tr key={`${id} ${phase} ${metric} ${stat}`}>
                <th scope="row" className="pr-4 font-normal">
                  <Link to="/plans/$id" params={{ id }} className="underline">
                    {deployment}
                  </Link>
                </th>
                <td className="pr-4">{stat === 'rate' ? metric : `${metric} ${stat}`}</td>
                <td className="pr-4 whitespace-nowrap">{`${metricText(metric, predicted.value)} (${rangeText(metric, predicted)})`}</td>
                <td className="pr-4 whitespace-nowrap">{`${metricText(metric, achieved.value)} (${rangeText(metric, achieved)})`}</td>
                <td>{within ? 'yes' : 'no'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

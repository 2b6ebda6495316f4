import { metricName } from '../../../rollouts/prediction-text.js';
import { Chip } from '../../../ui/chip.js';
import { Facts } from '../../../ui/facts.js';
import { LoadChart } from '../../../ui/load-chart.js';
import { Panel } from '../../../ui/panel.js';
import { metricText, numberText, rangeText } from '../../../ui/text/number-text.js';
import type { Diagnosis } from '../deployment-data.js';
import { causeText, curveOf, measuredText, predictedText, replicasText, type SloDiagnosis } from './diagnosis-text.js';

interface SloPanelProps {
  slo: SloDiagnosis;
  workload: Diagnosis['workload'];
}

/** One SLO: whether it is met or why not, its numbers, and how its metric depends on the load. */
export function SloPanel({ slo, workload }: SloPanelProps) {
  const { metric, threshold, cause, because, message, value, idle, curve } = slo;
  const { words, tone } = causeText(cause);
  return (
    <Panel
      title={metricName(slo)}
      note={
        <>
          <span className="text-xs text-soft">limit {metricText(metric, threshold)}</span>
          <Chip word={cause} tone={tone}>
            {words}
          </Chip>
        </>
      }
    >
      <div className="space-y-2">
        <p className="max-w-prose text-sm break-words">{message}</p>
        <Facts
          of={{
            value: measuredText(metric, value) ?? 'no samples',
            'without load': measuredText(metric, idle) ?? 'not known',
            predicted: predictedText(slo) ?? 'not known',
            replicas: replicasText(slo),
            reason: because?.replaceAll('_', ' '),
          }}
        />
        {curve.length > 0 ? (
          <>
            <LoadChart {...curveOf(slo, workload)} />
            <CurveNumbers slo={slo} />
          </>
        ) : (
          <p className="text-xs text-soft">There are too few samples to draw the metric by load.</p>
        )}
      </div>
    </Panel>
  );
}

/** The numbers of the picture, for those who cannot see it or want to copy them. */
function CurveNumbers({ slo: { metric, stat, curve } }: { slo: SloDiagnosis }) {
  return (
    <details className="text-xs">
      <summary className="cursor-pointer text-soft">Numbers by load</summary>
      <table className="mt-1 text-left tabular-nums">
        <thead className="text-soft">
          <tr>
            {['Load', 'Samples', metricName({ metric, stat }), 'Interval'].map((title) => (
              <th key={title} scope="col" className="pr-4 font-medium">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {curve.map((point) => (
            <tr key={point.load}>
              <th scope="row" className="pr-4 font-normal">
                {numberText(point.load)}
              </th>
              <td className="pr-4">{numberText(point.n)}</td>
              <td className="pr-4">{metricText(metric, point.value)}</td>
              <td className="pr-4">{rangeText(metric, point)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

import { Fragment } from 'react';

interface IntervalRow {
  name: string;
  value: number;
  /** Null for a value without an interval. */
  interval: { low: number; high: number | null } | null;
  text: string;
  tone: 'candidate' | 'baseline' | 'achieved';
}

interface IntervalPlotProps {
  rows: readonly IntervalRow[];
  limit: { value: number; text: string; name: string } | null;
}

const HEIGHT = 20;
const MIDDLE = HEIGHT / 2;
// The interval of an achieved value is the predicted one.
const STROKES = { candidate: 'stroke-candidate', baseline: 'stroke-baseline', achieved: 'stroke-candidate' };
const FILLS = { candidate: 'fill-candidate', baseline: 'fill-baseline', achieved: 'fill-info' };

/**
 * Values on one axis from zero, each with its interval, and the limit as a dashed line through all of them. The numbers
 * are also texts, so a screen reader needs no picture.
 */
export function IntervalPlot({ rows, limit }: IntervalPlotProps) {
  const ends = rows.flatMap(({ value, interval }) => [value, interval?.high ?? value]);
  const most = Math.max(...ends, limit?.value ?? 0, 1e-9) * 1.05;
  const at = (value: number) => `${Math.min(100, Math.max(0, (value / most) * 100)).toFixed(2)}%`;
  return (
    <dl className="grid grid-cols-[auto_minmax(3rem,1fr)_auto] items-center gap-x-3 text-sm">
      {rows.map((row) => (
        <Fragment key={row.name}>
          <dt className="text-soft">{row.name}</dt>
          <dd aria-hidden className="min-w-0">
            <svg width="100%" height={HEIGHT} className="block">
              <line x1="0" x2="100%" y1={MIDDLE} y2={MIDDLE} className="stroke-line" />
              {limit && (
                <line
                  x1={at(limit.value)}
                  x2={at(limit.value)}
                  y1="0"
                  y2={HEIGHT}
                  className="stroke-bad"
                  strokeDasharray="3 2"
                  strokeWidth={1.5}
                />
              )}
              {row.interval && (
                <line
                  x1={at(row.interval.low)}
                  x2={at(row.interval.high ?? most)}
                  y1={MIDDLE}
                  y2={MIDDLE}
                  className={STROKES[row.tone]}
                  strokeWidth={6}
                  strokeOpacity={0.45}
                />
              )}
              <circle cx={at(row.value)} cy={MIDDLE} r={4.5} className={FILLS[row.tone]} />
            </svg>
          </dd>
          <dd className="text-right whitespace-nowrap tabular-nums">{row.text}</dd>
        </Fragment>
      ))}
      {limit && (
        <>
          <dt className="text-bad">{limit.name}</dt>
          <dd className="col-span-2 text-right whitespace-nowrap text-bad tabular-nums">{limit.text}</dd>
        </>
      )}
    </dl>
  );
}

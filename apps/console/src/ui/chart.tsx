import { useRef, useState } from 'react';
import type uPlot from 'uplot';
import { usePreference } from '../theme/preferences.js';
import { drawLimits, PADDING, plotStyle, rangeFromZero, usePlot, widthOfLabels, type PlotMark } from './plot.js';
import { useThemeName } from './theme-name.js';

export interface ChartLine {
  label: string;
  /** In front of its value: `candidate 7.25`. */
  word: string;
  /** A value for each of the chart's times; null if there was none. */
  values: (number | null)[];
  tone: 'candidate' | 'baseline';
}

interface ChartProps {
  title: string;
  unit: string;
  /** Seconds since 1970, rising. */
  times: number[];
  lines: ChartLine[];
  limits?: PlotMark[];
  text: (value: number | null) => string;
}

const COLORS = { candidate: '--candidate', baseline: '--baseline' };
const MARKS = { candidate: 'border-candidate', baseline: 'border-dashed border-baseline' };

/** The names of the lines, once for all charts of a group: below a chart it would need more room than the chart. */
export function ChartLegend({ lines }: { lines: readonly Pick<ChartLine, 'label' | 'tone'>[] }) {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 text-xs">
      {lines.map(({ label, tone }) => (
        <li key={label} className="flex items-center gap-1.5">
          <span aria-hidden className={`w-5 shrink-0 border-t-2 ${MARKS[tone]}`} />
          <span className="wrap-anywhere">{label}</span>
        </li>
      ))}
    </ul>
  );
}

/**
 * Lines over time, also described in words: for a screen reader, the picture is one image. Lines differ in
 * their dashes as well as in their colours.
 */
export function Chart({ title, unit, times, lines, limits = [], text }: ChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const theme = useThemeName();
  const isUtc = usePreference('clock') === 'utc';
  const latest = useRef(limits);
  latest.current = limits;
  const box = usePlot({
    shape: `${theme} ${isUtc} ${lines.map(({ label, tone }) => `${label} ${tone}`).join()}`,
    data: [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData,
    marks: limits,
    options: () => optionsOf({ lines, isUtc, limits: () => latest.current, onCursor: setAt }),
  });

  const valueOf = ({ values }: ChartLine) => (at === null ? values.findLast((value) => value !== null) : values[at]);
  const told = lines.map((line) => `${line.label} ${text(valueOf(line) ?? null)}`);
  const limitsTold = limits.map(({ label }) => label);
  return (
    <figure className="m-0 flex min-w-0 flex-col">
      <figcaption className="text-xs">
        <span className="font-medium">{title}</span> <span className="text-soft">{unit}</span>
        <span className="block text-soft tabular-nums">
          {lines.map((line) => `${line.word} ${text(valueOf(line) ?? null)}`).join(', ') || 'no data'}
        </span>
      </figcaption>
      <div
        ref={box}
        role="img"
        aria-label={`${title}, ${unit}: ${[...told, ...limitsTold].join('; ') || 'no data'}`}
        className="h-24 min-w-0 overflow-hidden"
      />
    </figure>
  );
}

interface ChartDrawing {
  lines: ChartLine[];
  isUtc: boolean;
  limits: () => readonly PlotMark[];
  onCursor: (index: number | null) => void;
}

function optionsOf({ lines, isUtc, limits, onCursor }: ChartDrawing): Omit<uPlot.Options, 'width' | 'height'> {
  const { color, axis } = plotStyle();
  return {
    padding: PADDING,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 5 } },
    scales: { y: { range: (_plot, _least, most) => rangeFromZero(most, limits()) } },
    axes: [
      {
        ...axis,
        size: 18,
        gap: 2,
        space: 48,
        grid: { show: false },
        values: (_plot, ticks) => ticks.map((at) => clockText(at, isUtc)),
      },
      { ...axis, size: widthOfLabels, gap: 2, space: 24, grid: { stroke: color('--line'), width: 1 } },
    ],
    series: [
      {},
      ...lines.map(({ label, tone }) => ({
        label,
        stroke: color(COLORS[tone]),
        width: 1.5,
        dash: tone === 'baseline' ? [4, 2] : undefined,
        points: { size: 3 },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)],
      draw: [(plot) => drawLimits(plot, limits(), color('--bad'))],
    },
  };
}

/** `18:04`, in the same format as the other times on the screen. */
const clockText = (seconds: number, isUtc: boolean): string =>
  new Date(seconds * 1_000).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: isUtc ? 'UTC' : undefined,
  });

import { useRef } from 'react';
import type uPlot from 'uplot';
import {
  drawLimits,
  drawMark,
  PADDING,
  plotStyle,
  rangeFromZero,
  usePlot,
  widthOfLabels,
  type PlotMark,
} from './plot.js';
import { useThemeName } from './theme-name.js';

export interface LoadPoint {
  load: number;
  value: number;
  low: number;
  /** Null if it is unknown. */
  high: number | null;
}

interface LoadChartProps {
  title: string;
  unit: string;
  /** By rising load. */
  points: readonly LoadPoint[];
  limit: PlotMark;
  /** The load at the peak, if it is known. */
  peak: PlotMark | null;
  /** The picture in words, for a screen reader. */
  description: string;
}

/** A value by load, with its interval as an area. The load is drawn by its logarithm, because it was measured so. */
export function LoadChart({ title, unit, points, limit, peak, description }: LoadChartProps) {
  const theme = useThemeName();
  const latest = useRef({ limit, peak });
  latest.current = { limit, peak };
  // The value comes last, so that it is drawn over its interval.
  const data = ['load', 'low', 'high', 'value'].map((member) =>
    points.map((point) => point[member as keyof LoadPoint]),
  ) as uPlot.AlignedData;
  const box = usePlot({ shape: theme, data, marks: [limit, peak], options: () => optionsOf(() => latest.current) });
  return (
    <figure className="m-0 flex min-w-0 flex-col">
      <figcaption className="flex flex-wrap items-baseline gap-x-2 text-xs">
        <span className="font-medium">{title}</span>
        <span className="text-soft">{unit}</span>
      </figcaption>
      <div ref={box} role="img" aria-label={description} className="h-44 min-w-0 overflow-hidden" />
    </figure>
  );
}

type LoadMarks = Pick<LoadChartProps, 'limit' | 'peak'>;

function optionsOf(marks: () => LoadMarks): Omit<uPlot.Options, 'width' | 'height'> {
  const { color, axis } = plotStyle();
  const grid = { stroke: color('--line'), width: 1 };
  const hidden = { stroke: 'transparent', width: 0, points: { show: false } };
  return {
    padding: PADDING,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: {
        time: false,
        distr: 3,
        log: 2,
        range: (_plot, least, most) => loadRange([least, most, marks().peak?.value ?? 1]),
      },
      y: { range: (_plot, _least, most) => rangeFromZero(most, [marks().limit]) },
    },
    axes: [
      {
        ...axis,
        size: 18,
        gap: 2,
        grid,
        splits: (_plot, _axis, least, most) => powersOfTwo(least, most),
        filter: (_plot, splits) => splits,
        values: (_plot, splits) => splits.map(String),
      },
      { ...axis, size: widthOfLabels, gap: 2, space: 24, grid },
    ],
    series: [{}, hidden, hidden, { stroke: color('--candidate'), width: 1.5, points: { size: 5 } }],
    bands: [{ series: [2, 1], fill: color('--accent-soft') }],
    hooks: {
      draw: [
        (plot) => {
          const { limit, peak } = marks();
          drawLimits(plot, [limit], color('--bad'));
          if (peak) drawMark(plot, peak, color('--info'));
        },
      ],
    },
  };
}

/** A request that is alone has the load 1. One point alone is still in a wide picture. */
const loadRange = (loads: readonly (number | null)[]): [number, number] => {
  const known = loads.filter((load) => load !== null && load > 0) as number[];
  return [Math.min(1, ...known), Math.max(2, ...known) * 1.15];
};

function powersOfTwo(least: number, most: number): number[] {
  const first = Math.ceil(Math.log2(least));
  const count = Math.max(0, Math.floor(Math.log2(most)) - first + 1);
  return Array.from({ length: count }, (_, index) => 2 ** (first + index));
}

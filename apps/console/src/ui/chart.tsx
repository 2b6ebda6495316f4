import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { classes } from './classes.js';
import { usePreference } from '../theme/preferences.js';
import { useThemeName } from './theme-name.js';

export interface ChartLine {
  label: string;
  /** A value for each of the chart's times; null if there was none. */
  values: (number | null)[];
  tone: 'candidate' | 'baseline';
}

export interface ChartLimit {
  value: number;
  label: string;
}

interface ChartProps {
  title: string;
  unit: string;
  /** Seconds since 1970, rising. */
  times: number[];
  lines: ChartLine[];
  limits?: ChartLimit[];
  text: (value: number | null) => string;
}

const COLORS = { candidate: '--candidate', baseline: '--baseline' };
const MARKS = { candidate: 'bg-candidate', baseline: 'bg-baseline' };

/**
 * Lines over time, also described in words: for a screen reader, the picture is one image. Lines differ in
 * their dashes as well as in their colours.
 */
export function Chart({ title, unit, times, lines, limits = [], text }: ChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const theme = useThemeName();
  const isUtc = usePreference('clock') === 'utc';
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef({ data, limits });
  latest.current = { data, limits };
  // The structure of the picture; a change of the data alone only updates it.
  const shape = `${theme} ${isUtc} ${lines.map(({ label, tone }) => `${label} ${tone}`).join()}`;

  useEffect(() => {
    if (!box.current) return;
    const made = new uPlot(
      optionsOf({ box: box.current, lines, isUtc, limits: () => latest.current.limits, onCursor: setAt }),
      latest.current.data,
      box.current,
    );
    plot.current = made;
    const resized = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      if (width > 0 && height > 0) made.setSize({ width, height });
    });
    resized.observe(box.current);
    return () => {
      resized.disconnect();
      made.destroy();
    };
    // `lines` is a new array each time; `shape` contains the part of it that matters here.
  }, [shape]);
  const drawn = JSON.stringify([data, limits]);
  useEffect(() => plot.current?.setData(latest.current.data), [drawn]);

  const valueOf = ({ values }: ChartLine) => (at === null ? values.findLast((value) => value !== null) : values[at]);
  const told = lines.map((line) => `${line.label} ${text(valueOf(line) ?? null)}`);
  const limitsTold = limits.map(({ label }) => label);
  return (
    <figure className="m-0 flex min-w-0 flex-col">
      <figcaption className="flex flex-wrap items-baseline gap-x-2 text-xs">
        <span className="font-medium">{title}</span>
        <span className="text-soft">{unit}</span>
        <span className="ml-auto flex gap-x-2">
          {lines.map((line) => (
            <span key={line.label} className="inline-flex items-center gap-1 whitespace-nowrap" title={line.label}>
              <span aria-hidden className={classes('h-0.5 w-2.5', MARKS[line.tone])} />
              {text(valueOf(line) ?? null)}
            </span>
          ))}
        </span>
      </figcaption>
      <div
        ref={box}
        role="img"
        aria-label={`${title}, ${unit}: ${[...told, ...limitsTold].join('; ') || 'no data'}`}
        className="h-20 min-w-0 overflow-hidden"
      />
    </figure>
  );
}

interface ChartDrawing {
  box: HTMLElement;
  lines: ChartLine[];
  isUtc: boolean;
  limits: () => readonly ChartLimit[];
  onCursor: (index: number | null) => void;
}

function optionsOf({ box, lines, isUtc, limits, onCursor }: ChartDrawing): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const soft = color('--text-soft');
  const axis = { stroke: soft, font: `10px ${style.fontFamily}`, ticks: { show: false } };
  return {
    width: box.clientWidth || 200,
    height: box.clientHeight || 80,
    padding: [4, 4, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 5 } },
    scales: {
      y: {
        range: (_plot, _least, most) => [0, Math.max(most ?? 0, ...limits().map(({ value }) => value), 1e-9) * 1.1],
      },
    },
    axes: [
      {
        ...axis,
        size: 16,
        gap: 2,
        space: 60,
        grid: { show: false },
        values: (_plot, ticks) => ticks.map((at) => clockText(at, isUtc)),
      },
      { ...axis, size: 38, gap: 2, space: 24, grid: { stroke: color('--line'), width: 1 } },
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

function drawLimits(plot: uPlot, limits: readonly ChartLimit[], color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.setLineDash([6, 3]);
  ctx.textAlign = 'left';
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px sans-serif`;
  for (const { value, label } of limits) {
    const y = Math.round(plot.valToPos(value, 'y', true));
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillText(label, bbox.left + 4, y + 11 * devicePixelRatio);
  }
  ctx.restore();
}

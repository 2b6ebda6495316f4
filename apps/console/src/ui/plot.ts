import { useEffect, useRef, type RefObject } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** A dashed line across the picture, with its name. */
export interface PlotMark {
  value: number;
  label: string;
}

interface PlotRequest {
  /** The structure of the picture, which is made again if it changes; a change of the data alone only updates it. */
  shape: string;
  data: uPlot.AlignedData;
  /** Everything else that is drawn: if it changes, the picture is drawn again. */
  marks: unknown;
  options: (box: HTMLElement) => Omit<uPlot.Options, 'width' | 'height'>;
}

/** Draws a picture into the returned box, and keeps its size. */
export function usePlot({ shape, data, marks, options }: PlotRequest): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef({ data, options });
  latest.current = { data, options };

  useEffect(() => {
    if (!box.current) return;
    const { clientWidth, clientHeight } = box.current;
    const size = { width: clientWidth || 200, height: clientHeight || 80 };
    const made = new uPlot({ ...size, ...latest.current.options(box.current) }, latest.current.data, box.current);
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
    // `options` is a new function each time; `shape` contains the part of it that matters here.
  }, [shape]);
  const picture = JSON.stringify([data, marks]);
  useEffect(() => plot.current?.setData(latest.current.data), [picture]);
  return box;
}

/** The colours and the font of the theme in force. */
export function plotStyle(): { color: (name: string) => string; axis: Pick<uPlot.Axis, 'stroke' | 'font' | 'ticks'> } {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: color('--text-soft'), font: `10px ${style.fontFamily}`, ticks: { show: false } };
  return { color, axis };
}

/** The labels of the topmost and the rightmost value are half outside of the picture. */
export const PADDING: [number, number, number, number] = [8, 16, 0, 0];

/** For the labels of a vertical axis: as wide as the longest one, so that none is cut. */
export function widthOfLabels({ ctx }: uPlot, labels: readonly string[] | null): number {
  const least = 24;
  if (!labels || labels.length === 0) return least;
  ctx.save();
  ctx.font = `${10 * devicePixelRatio}px sans-serif`;
  const widest = Math.max(...labels.map((label) => ctx.measureText(label).width)) / devicePixelRatio;
  ctx.restore();
  return Math.max(least, Math.ceil(widest) + 8);
}

/** From zero to a little more than the largest value or limit. */
export function rangeFromZero(most: number | null, limits: readonly PlotMark[]): [number, number] {
  const top = Math.max(most ?? 0, ...limits.map(({ value }) => value));
  // Labels of an axis that ends near zero would all be 0.
  return [0, (top > 0 ? top : 1) * 1.1];
}

export function drawLimits(plot: uPlot, limits: readonly PlotMark[], color: string): void {
  const { left, width } = plot.bbox;
  drawDashed(plot, color, (ctx) => {
    for (const { value, label } of limits) {
      const y = Math.round(plot.valToPos(value, 'y', true));
      line(ctx, [left, y], [left + width, y]);
      ctx.fillText(label, left + 4 * devicePixelRatio, y + 11 * devicePixelRatio);
    }
  });
}

/** A dashed line from top to bottom at a value of the horizontal axis. */
export function drawMark(plot: uPlot, { value, label }: PlotMark, color: string): void {
  const { left, top, width, height } = plot.bbox;
  const x = Math.round(plot.valToPos(value, 'x', true));
  drawDashed(plot, color, (ctx) => {
    line(ctx, [x, top], [x, top + height]);
    const isRight = x > left + width / 2;
    ctx.textAlign = isRight ? 'right' : 'left';
    ctx.fillText(label, x + (isRight ? -4 : 4) * devicePixelRatio, top + height - 4 * devicePixelRatio);
  });
}

function drawDashed({ ctx }: uPlot, color: string, draw: (ctx: CanvasRenderingContext2D) => void): void {
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.setLineDash([6, 3]);
  ctx.textAlign = 'left';
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px sans-serif`;
  draw(ctx);
  ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, from: [number, number], to: [number, number]): void {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of this process. Names begin with `slipway_` and end with the unit (`_seconds`, `_bytes`, `_total`). */
export const metrics = new Registry();

let hasProcessMetrics = false;

/**
 * Adds `service` to every metric, and adds the metrics of the process and of Node (memory, event loop, collections).
 * May be called again.
 */
export function startProcessMetrics(service: string): void {
  metrics.setDefaultLabels({ service });
  if (hasProcessMetrics) return;
  hasProcessMetrics = true;
  collectDefaultMetrics({ register: metrics });
}

/** Returns the counter with this name, and creates it on first use. */
export function counter<L extends string = never>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
): Counter<L> {
  return (
    (metrics.getSingleMetric(name) as Counter<L> | undefined) ??
    new Counter({ name, help, labelNames, registers: [metrics] })
  );
}

/** Returns the gauge with this name. `collect` is called at each scrape to set it. */
export function gauge<L extends string = never>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
  collect?: (this: Gauge<L>) => void | Promise<void>,
): Gauge<L> {
  return (
    (metrics.getSingleMetric(name) as Gauge<L> | undefined) ??
    new Gauge({ name, help, labelNames, registers: [metrics], ...(collect ? { collect } : {}) })
  );
}

/** From the duration of a fast query to that of a request that waited for a model. */
export const DURATION_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** Returns the histogram with this name, in seconds unless `buckets` says otherwise. */
export function histogram<L extends string = never>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
  buckets: number[] = DURATION_BUCKETS_SECONDS,
): Histogram<L> {
  return (
    (metrics.getSingleMetric(name) as Histogram<L> | undefined) ??
    new Histogram({ name, help, labelNames, buckets, registers: [metrics] })
  );
}

/** Returns the response for a scraper. */
export async function renderMetrics(): Promise<{ contentType: string; body: string }> {
  return { contentType: metrics.contentType, body: await metrics.metrics() };
}

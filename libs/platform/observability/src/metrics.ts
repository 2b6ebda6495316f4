import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** This process's metrics. Names begin with `slipway_`, units stand at the end (`_seconds`, `_bytes`, `_total`). */
export const metrics = new Registry();

let hasProcessMetrics = false;

/** Adds `service` to every metric, and those of the process and of Node (memory, event loop, collections). Repeatable. */
export function startProcessMetrics(service: string): void {
  metrics.setDefaultLabels({ service });
  if (hasProcessMetrics) return;
  hasProcessMetrics = true;
  collectDefaultMetrics({ register: metrics });
}

/** The counter of that name, made at its first use. */
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

/** The gauge of that name. `collect` is called at each scrape to set it. */
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

/** From a fast query to a request that waited for a model. */
export const DURATION_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** The histogram of that name, in seconds unless `buckets` say otherwise. */
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

/** What a scraper is answered. */
export async function renderMetrics(): Promise<{ contentType: string; body: string }> {
  return { contentType: metrics.contentType, body: await metrics.metrics() };
}

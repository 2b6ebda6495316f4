import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { inTime } from './in-time.js';

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
  gauge('slipway_process_info', 'Kind of this process; always 1.', ['process']).set({ process: service }, 1);
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

/** A value, or one value for each set of labels. */
type ReadValue = number | readonly { labels: Record<string, string>; value: number }[];
type GaugeRead<N extends string> = () => Promise<Readonly<Record<N, ReadValue>>>;

/** Less than the ten seconds that Prometheus waits for a scrape by default. */
const READ_LIMIT_MS = 3_000;
/** The current read of each group, and the one that runs. An app of the same process that starts later replaces it. */
const groups = new Map<string, { read: GaugeRead<string>; running?: Promise<Record<string, ReadValue> | undefined> }>();

/**
 * Creates gauges whose values one read returns at each scrape, for example from Postgres. If the read fails or takes too
 * long, they have no value: an old one would look current. The rest of the scrape is not affected.
 * @param gauges help and label names by name
 */
export function readGauges<N extends string>(
  group: string,
  gauges: Readonly<Record<N, readonly [help: string, ...labelNames: string[]]>>,
  read: GaugeRead<N>,
): void {
  groups.set(group, { read });
  const failures = counter('slipway_metrics_read_failures_total', 'Reads of stored metrics that failed, by group', [
    'group',
  ]);
  failures.inc({ group }, 0);
  for (const name of Object.keys(gauges) as N[]) {
    const [help, ...labelNames] = gauges[name];
    const metric: Gauge = gauge<string>(name, help, labelNames, async () => {
      const values = await readOnce(group, () => failures.inc({ group }));
      metric.reset();
      const value = values?.[name];
      if (typeof value === 'number') metric.set(value);
      // A gauge without labels shows 0 after a reset.
      else if (value !== undefined) for (const row of value) metric.set(row.labels, row.value);
      else if (labelNames.length === 0) metric.remove();
    });
  }
}

/** The gauges of a group are collected concurrently, so they share the read. */
function readOnce(group: string, onFailure: () => void): Promise<Record<string, ReadValue> | undefined> {
  const current = groups.get(group)!;
  return (current.running ??= inTime(current.read(), READ_LIMIT_MS, () => new Error('the read took too long')).then(
    (values) => {
      current.running = undefined;
      return values;
    },
    () => {
      current.running = undefined;
      onFailure();
      return undefined;
    },
  ));
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

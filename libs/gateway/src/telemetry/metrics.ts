import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DISTRIBUTIONS, METRICS, type Distribution } from '@slipway/contracts';
import { operatorMetrics, type OperatorFileState } from '@slipway/platform-config/load';
import { bucketUpperBound, sortedBuckets, type Histogram } from '@slipway/dataplane';
import type { GatewayError } from '../gateway.errors.js';
import type { Holds } from '../holds/holds.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import type { SnapshotFollower } from '../snapshot/snapshot.follower.js';
import type { TokenBook } from '../tokens/token-book.js';
import type { Backends } from '../upstream/backends.js';
import type { Recorder, Tally } from './recorder.js';
import type { UsageBook } from './usage.js';

export interface MetricsSources {
  recorder: Recorder;
  usage: UsageBook;
  snapshot: Snapshot;
  follower: SnapshotFollower;
  sessions: SessionBook;
  tokens: TokenBook;
  backends: Backends;
  holds: Holds;
  inFlight: () => number;
  heldBytes: () => number;
  /** State of the operator's file; undefined if there is none to follow. */
  operatorFile?: () => OperatorFileState;
  refusals: Refusals;
}

/** Requests that the gateway refused before it sent them to an instance, by status and code of the answer. */
export class Refusals {
  private readonly counts = new Map<string, number>();

  note({ status, code }: Pick<GatewayError, 'status' | 'code'>): void {
    const labels = `status="${status}",code="${code ?? ''}"`;
    this.counts.set(labels, (this.counts.get(labels) ?? 0) + 1);
  }

  lines(): string[] {
    const name = 'slipway_gateway_refusals_total';
    return [
      `# HELP ${name} Requests that the gateway refused before it sent them to an instance, by status and code.`,
      `# TYPE ${name} counter`,
      ...[...this.counts].map(([labels, count]) => `${name}{${labels}} ${count}`),
    ];
  }
}

const loopDelay = monitorEventLoopDelay({ resolution: 10 });

/**
 * Every fourth bucket: factors of about 1.4 from 1 ms on are fine for dashboards; analyses read the full histograms.
 */
const SHOWN_EVERY = 4;
const LOWEST_SHOWN = 0;
const HIGHEST_SHOWN = 144;

/** Builds the Prometheus text on request, from what reports count anyway: `prom-client` would count it twice. */
export function metricsText(from: MetricsSources): string {
  const lines: string[] = [];
  const gauge = (name: string, help: string, value: number, labels: Record<string, string> = {}): void => {
    const shown = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    lines.push(
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      `${name}${shown.length > 0 ? `{${shown.join()}}` : ''} ${value}`,
    );
  };
  gauge('slipway_process_info', 'Kind of this process; always 1.', 1, { process: 'gateway' });
  const { rss, heapUsed, heapTotal } = process.memoryUsage();
  gauge('process_resident_memory_bytes', 'Resident memory of the gateway.', rss);
  gauge('process_start_time_seconds', 'Unix time at which the gateway started.', performance.timeOrigin / 1_000);
  gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', heapUsed);
  gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', heapTotal);
  gauge('nodejs_eventloop_lag_p99_seconds', 'p99 of the event loop lag since the last scrape.', loopLagSeconds());
  gauge(
    'process_cpu_seconds_total',
    'CPU time of the gateway.',
    (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  );
  gauge('slipway_gateway_requests_in_flight', 'Requests that were admitted and have not ended.', from.inFlight());
  gauge(
    'slipway_gateway_held_bytes',
    'Bytes of request bodies in flight and of fully buffered responses.',
    from.heldBytes(),
  );
  gauge(
    'slipway_gateway_postgres_up',
    'Whether the last read from Postgres succeeded: 1 or 0.',
    from.follower.isFollowing ? 1 : 0,
  );
  gauge(
    'slipway_gateway_snapshot_age_seconds',
    'Time since Postgres last confirmed the snapshot; -1 before the first time.',
    from.follower.ageMs === null ? -1 : from.follower.ageMs / 1000,
  );
  const file = from.operatorFile?.();
  for (const { name, help, labels, value } of file ? operatorMetrics(file) : []) gauge(name, help, value, labels);
  gauge('slipway_gateway_routes', 'Routes in the snapshot.', from.snapshot.routes.size);
  gauge('slipway_gateway_sessions', 'Session bindings in memory.', from.sessions.size);
  gauge('slipway_gateway_known_tokens', 'API tokens that are checked without a query to Postgres.', from.tokens.size);
  gauge(
    'slipway_gateway_lost_windows_total',
    'Windows of statistics dropped, for example while Postgres was unavailable.',
    from.recorder.lostWindows,
  );
  gauge(
    'slipway_gateway_lost_usage_total',
    'Rows and requests of usage dropped because there were too many or Postgres was unavailable.',
    from.usage.lostRows,
  );
  lines.push(...from.holds.metrics(), ...from.refusals.lines());
  pushInFlight(lines, from.backends);
  pushTallies(lines, from.recorder, from.backends);
  return `${lines.join('\n')}\n`;
}

/** Of the time since the last call, and of none at the first one. */
function loopLagSeconds(): number {
  const lag = loopDelay.count === 0 ? 0 : loopDelay.percentile(99) / 1e9;
  loopDelay.reset();
  loopDelay.enable();
  return lag;
}

function pushInFlight(lines: string[], backends: Backends): void {
  const now = performance.now();
  lines.push(
    '# HELP slipway_gateway_revision_in_flight Requests in flight per revision.',
    '# TYPE slipway_gateway_revision_in_flight gauge',
  );
  for (const { spec, inFlight } of backends)
    lines.push(`slipway_gateway_revision_in_flight{${labelsOf(spec.tenantId, nameOf(spec))}} ${inFlight}`);
  lines.push(
    '# HELP slipway_gateway_ejected_instances Instances that get no requests for a while after failures.',
    '# TYPE slipway_gateway_ejected_instances gauge',
  );
  for (const backend of backends)
    lines.push(
      `slipway_gateway_ejected_instances{${labelsOf(backend.spec.tenantId, nameOf(backend.spec))}} ${backend.ejectedCount(now)}`,
    );
}

type LabelledTally = readonly [labels: string, tally: Tally];

function pushTallies(lines: string[], recorder: Recorder, backends: Backends): void {
  const tallies = [...recorder.totals].map(([id, tally]): LabelledTally => {
    const spec = backends.get(id)?.spec;
    return [labelsOf(tally.tenantId, spec ? nameOf(spec) : id), tally];
  });
  lines.push(
    '# HELP slipway_gateway_attempts_total Attempts on instances by outcome.',
    '# TYPE slipway_gateway_attempts_total counter',
  );
  for (const [labels, tally] of tallies) {
    for (const [outcome, count] of Object.entries(tally.counts))
      lines.push(`slipway_gateway_attempts_total{${labels},class="${outcome}"} ${count}`);
  }
  lines.push(
    '# HELP slipway_gateway_requests_total Requests that reached an instance, by result for the client.',
    '# TYPE slipway_gateway_requests_total counter',
  );
  for (const [labels, { counts, retried, overloadedRetried }] of tallies) {
    // An attempt that was retried is no result: no client saw it.
    const results = {
      ok: counts.ok,
      failed: counts.server_error + counts.connect_error - retried,
      overloaded: counts.overloaded - overloadedRetried,
      client_error: counts.client_error,
      abandoned: counts.abandoned,
      cancelled: counts.cancelled,
    };
    for (const [result, count] of Object.entries(results))
      lines.push(`slipway_gateway_requests_total{${labels},result="${result}"} ${count}`);
  }
  lines.push(
    '# HELP slipway_gateway_faults_total Failed answers of instances by what was wrong with them.',
    '# TYPE slipway_gateway_faults_total counter',
  );
  for (const [labels, tally] of tallies) {
    for (const [fault, count] of Object.entries(tally.faults))
      lines.push(`slipway_gateway_faults_total{${labels},fault="${fault}"} ${count}`);
  }
  lines.push(
    '# HELP slipway_gateway_retries_total Attempts that were retried.',
    '# TYPE slipway_gateway_retries_total counter',
  );
  for (const [labels, tally] of tallies)
    lines.push(`slipway_gateway_retries_total{${labels}} ${tally.retried + tally.overloadedRetried}`);
  lines.push(
    '# HELP slipway_gateway_tokens_total Tokens in prompts and completions.',
    '# TYPE slipway_gateway_tokens_total counter',
  );
  for (const [labels, tally] of tallies) {
    lines.push(
      `slipway_gateway_tokens_total{${labels},direction="in"} ${tally.tokensIn}`,
      `slipway_gateway_tokens_total{${labels},direction="out"} ${tally.tokensOut}`,
    );
  }
  for (const metric of DISTRIBUTIONS) pushHistogram(lines, metric, tallies);
}

function pushHistogram(lines: string[], metric: Distribution, tallies: readonly LabelledTally[]): void {
  const { prometheus: name, description } = METRICS[metric];
  lines.push(`# HELP ${name} ${description}.`, `# TYPE ${name} histogram`);
  for (const [labels, tally] of tallies) {
    const histogram = tally.histograms[metric].snapshot();
    for (const [bound, count] of cumulative(histogram)) lines.push(`${name}_bucket{${labels},le="${bound}"} ${count}`);
    lines.push(`${name}_sum{${labels}} ${histogram.sum}`, `${name}_count{${labels}} ${histogram.n}`);
  }
}

function cumulative(histogram: Histogram): [bound: string, count: number][] {
  const shown: [string, number][] = [];
  const buckets = sortedBuckets(histogram);
  let at = 0;
  let count = 0;
  for (let bucket = LOWEST_SHOWN - 1; bucket < HIGHEST_SHOWN; bucket += SHOWN_EVERY) {
    while (at < buckets.length && (buckets[at] as [number, number])[0] <= bucket)
      count += (buckets[at++] as [number, number])[1];
    shown.push([bucketUpperBound(bucket).toPrecision(4), count]);
  }
  shown.push(['+Inf', histogram.n]);
  return shown;
}

function nameOf(spec: { id: string; revisionName: string | null }): string {
  return spec.revisionName ?? spec.id;
}

/** With the tenant: names of revisions are unique within one only. */
function labelsOf(tenantId: string, revision: string): string {
  return `tenant="${tenantId}",revision="${revision.replace(/[\\"\n]/g, '_')}"`;
}

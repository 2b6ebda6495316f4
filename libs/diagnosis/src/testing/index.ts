import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { emptyRecord, HistogramRecorder, LoadRecorder, type Histograms, type ServiceRecord } from '@slipway/dataplane';

/** An engine whose times are known, and the traffic of one minute after the other. */
export interface ServedTraffic {
  /** Milliseconds to the first token at a load. */
  firstTokenMs(load: number): number;
  perTokenMs(load: number): number;
  tokens: number;
  /** Load of each instance in a minute. */
  loadIn(minute: number): number;
  minutes: number;
  /** As many as keep the instances at their load, by default. */
  requestsPerMinute?: number;
  /** Requests that come, if they are others than those that end. */
  arrivalsPerMinute?: number;
  /** Share of requests that fail in a minute. */
  failuresIn?(minute: number): number;
  /** How many times longer the first token takes in a minute, because instances have just started. */
  startingIn?(minute: number): number;
  instancesIn?(minute: number): number;
  kvUsage?: number | null;
  /** One request of each minute waited so long for an instance. */
  heldMs?: number;
}

const MINUTE_MS = 60_000;

/** Records that the traffic leaves from this time on, with times that vary by a fifth. */
export function servedRecords(service: ServedTraffic, start: Date, seed = 1): ServiceRecord[] {
  const random = randomFrom(seed);
  return Array.from({ length: service.minutes }, (_, minute) =>
    recordOf(service, minute, new Date(start.getTime() + minute * MINUTE_MS), random),
  );
}

function recordOf(service: ServedTraffic, minute: number, at: Date, random: () => number): ServiceRecord {
  const all = eachDistribution(() => new HistogramRecorder());
  const starting = eachDistribution(() => new HistogramRecorder());
  const [loads, outputs, inputs] = [new LoadRecorder(), new HistogramRecorder(), new HistogramRecorder()];
  const record = emptyRecord(at, 60);
  const { counts } = record.stats;
  const slowness = service.startingIn?.(minute) ?? 1;
  const requests = requestsIn(service, minute);
  for (let request = 0; request < requests; request += 1) {
    if (random() < (service.failuresIn?.(minute) ?? 0)) {
      counts.server_error += 1;
      continue;
    }
    counts.ok += 1;
    const vary = () => 0.8 + 0.4 * random();
    const load = Math.max(1, service.loadIn(minute) * vary());
    const tokens = Math.round(service.tokens * (0.5 + random()));
    const ttft_ms = service.firstTokenMs(load) * vary() * slowness;
    const itl_ms = service.perTokenMs(load) * vary();
    const e2e_latency_ms = ttft_ms + itl_ms * (tokens - 1);
    outputs.record(tokens);
    inputs.record(500);
    for (const [metric, value] of Object.entries({ ttft_ms, itl_ms, e2e_latency_ms }) as [Distribution, number][]) {
      all[metric].record(value);
      if (slowness > 1) starting[metric].record(value);
      else loads.at(metric, load).record(value);
    }
  }
  const instances = instancesIn(service, minute);
  const held = new HistogramRecorder();
  if (service.heldMs !== undefined) held.record(service.heldMs);
  return {
    ...record,
    gateways: 1,
    instances,
    stats: { ...record.stats, streamed: counts.ok, ...snapshots(all), loads: { ...loads.snapshot(), instances } },
    starting: snapshots(starting),
    arrivals: service.arrivalsPerMinute ?? requests,
    held: held.snapshot(),
    inputTokens: inputs.snapshot(),
    outputTokens: outputs.snapshot(),
    kvUsage: service.kvUsage ?? null,
  };
}

function instancesIn({ instancesIn: count }: ServedTraffic, minute: number): number {
  return count?.(minute) ?? 1;
}

/** Little's law: so many requests keep each instance at its load. */
function requestsIn(service: ServedTraffic, minute: number): number {
  if (service.requestsPerMinute !== undefined) return service.requestsPerMinute;
  const load = service.loadIn(minute);
  const duration = service.firstTokenMs(load) + service.perTokenMs(load) * (service.tokens - 1);
  return Math.round((MINUTE_MS * load * instancesIn(service, minute)) / duration);
}

/** Mulberry32: the same numbers of [0, 1) in every run. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

function eachDistribution<T>(make: () => T): Record<Distribution, T> {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, make()])) as Record<Distribution, T>;
}

function snapshots(recorders: Record<Distribution, HistogramRecorder>): Histograms {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, recorders[metric].snapshot()])) as Histograms;
}

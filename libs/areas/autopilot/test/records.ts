import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { emptyRecord, HistogramRecorder, LoadRecorder, type Histograms, type ServiceRecord } from '@slipway/dataplane';
import type { ReviewRecords } from '../src/rounds/situation.js';

/** An engine whose times are known, and its traffic. The last half hour is judged. */
export interface Service {
  /** Milliseconds to the first token at a load. */
  firstTokenMs(load: number): number;
  perTokenMs(load: number): number;
  tokens: number;
  /** Load of each instance in a minute of the history. */
  loadIn(minute: number): number;
  minutes: number;
  windowMinutes: number;
  /** As many as keep the instances at their load, by default. */
  requestsPerMinute?: number;
  /** Requests that come, if they are others than those that end. */
  arrivalsPerMinute?: number;
  /** Share of requests that fail in a minute. */
  failuresIn(minute: number): number;
  /** How many times longer the first token takes in a minute, because instances have just started. */
  startingIn(minute: number): number;
  instancesIn(minute: number): number;
  kvUsage: number | null;
  /** One request of each minute waited so long for an instance. */
  heldMs?: number;
  /** Minutes with a refusal among those of the history. */
  refusedMinutes: number;
  /** How long ago the first request came, if that is before the records below. */
  olderMinutes: number;
}

/** Alone, the first token takes 100 ms and each further one 10 ms; both become slower with the load. */
export const SERVICE: Service = {
  firstTokenMs: (load) => 100 * load,
  perTokenMs: (load) => 10 * (1 + (load - 1) / 10),
  tokens: 400,
  loadIn: (minute) => (minute < 90 ? 1 + (minute % 6) * 2 : 14),
  minutes: 120,
  windowMinutes: 30,
  failuresIn: () => 0,
  startingIn: () => 1,
  instancesIn: () => 1,
  kvUsage: null,
  refusedMinutes: 0,
  olderMinutes: 0,
};

export const NOW = new Date('2026-06-01T12:00:00Z');
const MINUTE_MS = 60_000;

/** The records that a service leaves until now, with times that vary by a fifth. */
export function recordsOf(changes: Partial<Service> = {}, seed = 1): ReviewRecords {
  const service = { ...SERVICE, ...changes };
  const { minutes, windowMinutes, olderMinutes, refusedMinutes } = service;
  const random = randomFrom(seed);
  const start = NOW.getTime() - minutes * MINUTE_MS;
  const history = Array.from({ length: minutes }, (_, minute) =>
    recordOf(service, minute, new Date(start + minute * MINUTE_MS), random),
  );
  const arrivals = history.map(({ at, seconds, arrivals: count }) => ({ at, seconds, count }));
  const older = new Date(start - olderMinutes * MINUTE_MS);
  return {
    revisionId: 'rev_1',
    from: new Date(NOW.getTime() - windowMinutes * MINUTE_MS),
    to: NOW,
    window: history.slice(-windowMinutes),
    history,
    arrivals: olderMinutes > 0 ? [{ at: older, seconds: 60, count: 1 }, ...arrivals] : arrivals,
    availability: { minutes: minutes + olderMinutes, refusedMinutes },
  };
}

function recordOf(service: Service, minute: number, at: Date, random: () => number): ServiceRecord {
  const all = eachDistribution(() => new HistogramRecorder());
  const starting = eachDistribution(() => new HistogramRecorder());
  const [loads, outputs, inputs] = [new LoadRecorder(), new HistogramRecorder(), new HistogramRecorder()];
  const record = emptyRecord(at, 60);
  const { counts } = record.stats;
  const slowness = service.startingIn(minute);
  const requests = requestsIn(service, minute);
  for (let request = 0; request < requests; request += 1) {
    if (random() < service.failuresIn(minute)) {
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
  const instances = service.instancesIn(minute);
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
    kvUsage: service.kvUsage,
  };
}

/** Little's law: so many requests keep each instance at its load. */
function requestsIn(service: Service, minute: number): number {
  if (service.requestsPerMinute !== undefined) return service.requestsPerMinute;
  const load = service.loadIn(minute);
  const duration = service.firstTokenMs(load) + service.perTokenMs(load) * (service.tokens - 1);
  return Math.round((MINUTE_MS * load * service.instancesIn(minute)) / duration);
}

/** Mulberry32: the same numbers of [0, 1) in every run. */
function randomFrom(seed: number): () => number {
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

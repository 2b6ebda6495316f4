import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { emptyCounts, HistogramRecorder, LoadRecorder, type Histograms, type ServiceRecord } from '@slipway/dataplane';
import type { DiagnosisInput } from '../src/types.js';

/** Mulberry32: numbers of [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An engine whose times are known, and the traffic of one minute after the other. */
export interface Service {
  /** Milliseconds at a load. */
  firstTokenMs(load: number): number;
  perTokenMs(load: number): number;
  tokens: number;
  /** Load of the instance in a minute. */
  loadIn(minute: number): number;
  requestsPerMinute: number;
  minutes: number;
  /** Share of requests that fail in a minute. */
  failuresIn?(minute: number): number;
  /** How many times longer the first token takes in a minute, because instances have just started. */
  startingIn?(minute: number): number;
  kvUsage?: number;
}

const START = Date.parse('2026-01-05T10:00:00Z');

/** Records that the service leaves, with times that vary by a fifth. */
export function recordsOf(service: Service, seed = 1): ServiceRecord[] {
  const random = randomFrom(seed);
  return Array.from({ length: service.minutes }, (_, minute) => recordOf(service, minute, random));
}

function recordOf(service: Service, minute: number, random: () => number): ServiceRecord {
  const all = eachDistribution(() => new HistogramRecorder());
  const starting = eachDistribution(() => new HistogramRecorder());
  const [loads, outputs, inputs] = [new LoadRecorder(), new HistogramRecorder(), new HistogramRecorder()];
  const counts = emptyCounts();
  const slowness = service.startingIn?.(minute) ?? 1;
  for (let request = 0; request < service.requestsPerMinute; request += 1) {
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
    const values = { ttft_ms, itl_ms, e2e_latency_ms };
    for (const [metric, value] of Object.entries(values) as [Distribution, number][]) {
      all[metric].record(value);
      if (slowness > 1) starting[metric].record(value);
      else loads.at(metric, load).record(value);
    }
  }
  return {
    at: new Date(START + minute * 60_000),
    seconds: 60,
    gateways: 1,
    instances: 1,
    stats: { counts, streamed: counts.ok, tokens_in: 0, tokens_out: 0, ...snapshots(all), loads: loads.snapshot() },
    starting: snapshots(starting),
    arrivals: service.requestsPerMinute,
    sessionArrivals: 0,
    held: new HistogramRecorder().snapshot(),
    refused: 0,
    inputTokens: inputs.snapshot(),
    outputTokens: outputs.snapshot(),
    kvUsage: service.kvUsage ?? null,
    waiting: null,
  };
}

/** The last half hour is judged. */
export function inputOf(records: readonly ServiceRecord[], more: Partial<DiagnosisInput> = {}): DiagnosisInput {
  return {
    goals: [{ metric: 'ttft_ms', stat: 'p95', threshold: 500 }],
    evidence: { minSamples: 50, confidence: 0.95 },
    window: records.slice(-30),
    history: records,
    arrivals: records.map(({ at, seconds, arrivals }) => ({ at, seconds, count: arrivals })),
    declared: {},
    pool: { replicas: 1 },
    errorLimit: 0.05,
    calibration: [],
    ...more,
  };
}

function eachDistribution<T>(make: () => T): Record<Distribution, T> {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, make()])) as Record<Distribution, T>;
}

function snapshots(recorders: Record<Distribution, HistogramRecorder>): Histograms {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, recorders[metric].snapshot()])) as Histograms;
}

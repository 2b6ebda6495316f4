import type { ServiceRecord } from '@slipway/dataplane';
import { servedRecords, type ServedTraffic } from '../src/testing/index.js';
import type { DiagnosisInput } from '../src/types.js';

export { randomFrom } from '../src/testing/index.js';
export type Service = ServedTraffic;

const START = new Date('2026-01-05T10:00:00Z');

export function recordsOf(service: Service, seed = 1): ServiceRecord[] {
  return servedRecords(service, START, seed);
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

import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { HistogramRecorder, type Histogram } from '../statistics/histogram.js';
import { mergeRecords } from './merge.js';
import { emptyRecord, type ServiceRecord } from './record.js';
import { recordOf, storedRecord, type StoredRecord } from './stored-record.js';

/** Stored sums are rounded to a thousandth. */
const histograms = fc
  .array(fc.double({ min: 0, max: 1e8, noNaN: true }), { maxLength: 40 })
  .map((values): Histogram => {
    const recorder = new HistogramRecorder();
    for (const value of values) recorder.record(value);
    const { sum, sq, ...rest } = recorder.snapshot();
    return { ...rest, sum: Math.round(sum), sq: Math.round(sq) };
  });
const filled = histograms.filter(({ n }) => n > 0);
const byMetric = <T>(one: fc.Arbitrary<T>) =>
  fc.record(Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, one])) as Record<Distribution, fc.Arbitrary<T>>);
const whole = fc.nat(1e6);

const records: fc.Arbitrary<ServiceRecord> = fc
  .record({
    all: byMetric(histograms),
    starting: byMetric(histograms),
    loads: byMetric(fc.dictionary(fc.nat(17).map(String), filled, { maxKeys: 4 })),
    others: fc.tuple(histograms, histograms, histograms),
    counts: fc.tuple(whole, whole, whole, whole, whole, whole),
    engine: fc.tuple(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), fc.option(whole)),
  })
  .map(({ all, starting, loads, others: [held, inputTokens, outputTokens], counts, engine }): ServiceRecord => {
    const [gateways, instances, arrivals, sessionArrivals, refused, ok] = counts;
    const empty = emptyRecord(new Date('2026-01-01T10:20:00Z'), 60);
    const own = { instances, alone_ms: 12.5, joined: 3, histograms: loads };
    const stats = { ...empty.stats, ...all, loads: own, streamed: 1, tokens_in: 2, tokens_out: 3 };
    return {
      ...empty,
      gateways,
      instances,
      stats: { ...stats, counts: { ...stats.counts, ok } },
      starting,
      arrivals,
      sessionArrivals,
      held,
      refused,
      inputTokens,
      outputTokens,
      kvUsage: engine[0],
      waiting: engine[1],
    };
  });

/** As Postgres returns it: through JSON. */
function read(record: ServiceRecord, stored: StoredRecord = storedRecord(record)): ServiceRecord {
  const { arrivals, refused, seconds } = record;
  const json = JSON.parse(JSON.stringify(stored)) as StoredRecord;
  return recordOf({ at: record.at.getTime() / 1_000, seconds, arrivals, refused, record: json });
}

it('is read as it was stored, also by copies of it', () => {
  fc.assert(
    fc.property(records, (record) => {
      expect(read(record)).toEqual(record);
      const { stats, ...rest } = read(record);
      expect({ ...rest, stats: { ...stats } }).toEqual(record);
      expect(mergeRecords([read(record)])).toEqual(mergeRecords([record]));
    }),
    { numRuns: 30 },
  );
});

it('has no values of a metric that is younger than the row', () => {
  const record = emptyRecord(new Date(0), 3600);
  const old = read(record, { ...storedRecord(record), values: {} });
  expect(old).toEqual(record);
});

it('decodes a metric when it is read, and once', () => {
  const recorder = new HistogramRecorder();
  recorder.record(20);
  const empty = emptyRecord(new Date(0), 60);
  const record = { ...empty, stats: { ...empty.stats, ttft_ms: recorder.snapshot(), itl_ms: recorder.snapshot() } };
  const stored = storedRecord(record);
  const { arrivals, refused } = record;
  const later = recordOf({ at: 0, seconds: 60, arrivals, refused, record: stored });
  const first = later.stats.ttft_ms;
  stored.values = {};
  expect([later.stats.ttft_ms.n, later.stats.itl_ms.n]).toEqual([1, 0]);
  expect(later.stats.ttft_ms).toBe(first);
});

import { describe, expect, it } from '@jest/globals';
import type { Histogram } from '../statistics/histogram.js';
import { emptyLoads, type Loads } from '../statistics/load.js';
import { emptyCounts, histogramsOf, type StatsWindow } from '../statistics/stats.query.js';
import { mergeRecords, mergeWindows } from './merge.js';
import { emptyRecord, type ServiceRecord } from './record.js';

const MINUTE = new Date('2026-01-01T10:20:00Z');
/** `n` equal values. */
const values = (value: number, n = 1): Histogram => {
  const bucket = Math.floor(Math.log2(value) * 8);
  return { n, sum: value * n, sq: value ** 2 * n, b: { [bucket]: n } };
};
const none = (): Histogram => ({ n: 0, sum: 0, sq: 0, b: {} });
const loadsOf = (e2e: Record<number, Histogram>, rest: Partial<Loads> = {}): Loads => ({
  ...emptyLoads(),
  instances: 1,
  ...rest,
  histograms: { ...emptyLoads().histograms, e2e_latency_ms: e2e },
});
const windowOf = (given: Partial<StatsWindow> = {}): StatsWindow => ({
  ...emptyCounts(),
  revision_id: 'rev',
  tenant_id: 'ten',
  gateway_id: 'gw',
  window_start: MINUTE.toISOString(),
  streamed: 0,
  tokens_in: 0,
  tokens_out: 0,
  ...histogramsOf(none),
  loads: null,
  callers: null,
  waits: null,
  faults: null,
  ...given,
});
const buckets = ({ stats }: ServiceRecord) =>
  Object.fromEntries(Object.entries(stats.loads.histograms.e2e_latency_ms).map(([bucket, { n }]) => [bucket, n]));

describe('windows of one minute', () => {
  it('of two gateways are added up, each at a load that includes the requests of the other', () => {
    const busy = windowOf({
      gateway_id: 'gw_1',
      ok: 60,
      arrivals: 61,
      // Half of the minute: on average half a request more for the other gateway.
      e2e_latency_ms: values(500, 60),
      loads: loadsOf({ 0: values(500, 60) }),
    });
    const idle = windowOf({
      gateway_id: 'gw_2',
      ok: 1,
      arrivals: 1,
      e2e_latency_ms: values(2),
      loads: loadsOf({ 0: values(2) }, { instances: 2 }),
    });
    const record = mergeWindows([busy, idle], MINUTE, 60);
    expect(record).toMatchObject({ at: MINUTE, seconds: 60, gateways: 2, instances: 2, arrivals: 62 });
    expect(record.stats.counts.ok).toBe(61);
    expect(record.stats.e2e_latency_ms.n).toBe(61);
    // The other's instance count spreads the hidden load: a quarter of a request is below the next half octave.
    expect(buckets(record)).toEqual({ 0: 60, 1: 1 });
    const alone = mergeWindows([busy, { ...idle, loads: loadsOf({ 0: values(2) }) }], MINUTE, 60);
    expect(buckets(alone)).toEqual({ 0: 60, 2: 1 });
  });

  it('keep requests of starting instances out of the loads, and in the histograms', () => {
    const all = { 0: values(100, 4), 3: values(400, 6) };
    const window = windowOf({
      e2e_latency_ms: { n: 10, sum: 2_800, sq: 1_000_000, b: { ...values(100, 4).b, ...values(400, 6).b } },
      loads: loadsOf(all, { alone_ms: 300, joined: 3 }),
      starting: loadsOf({ 0: values(100, 4), 3: values(400, 1) }, { alone_ms: 100, joined: 1 }),
    });
    const record = mergeWindows([window], MINUTE, 60);
    expect(record.stats.loads.histograms.e2e_latency_ms).toEqual({ 3: values(400, 5) });
    expect(record.stats.loads).toMatchObject({ instances: 1, alone_ms: 200, joined: 2 });
    expect(record.stats.e2e_latency_ms.n).toBe(10);
    expect(record.starting.e2e_latency_ms).toMatchObject({ n: 5, sum: 800 });
    expect(record.starting.ttft_ms.n).toBe(0);
  });

  it('subtract starting requests at the load that their own gateway recorded, before the load of others is added', () => {
    const loads = loadsOf({ 0: values(500, 60) });
    const minute = { ok: 60, e2e_latency_ms: values(500, 60), loads };
    const record = mergeWindows(
      [
        windowOf({ ...minute, gateway_id: 'gw_1' }),
        windowOf({ ...minute, gateway_id: 'gw_2', starting: loadsOf({ 0: values(500, 20) }) }),
      ],
      MINUTE,
      60,
    );
    expect(buckets(record)).toEqual({ 2: 100 });
  });

  it('count held and refused requests, sessions and tokens', () => {
    const record = mergeWindows(
      [
        windowOf({ arrivals: 5, session_arrivals: 2, refused: 1, held: values(800) }),
        windowOf({ tokens: { input: values(100), output: values(20) }, arrivals: 0 }),
        windowOf({ held: values(900), refused: 2, tokens: { input: values(300), output: values(30) }, arrivals: 1 }),
      ],
      MINUTE,
      60,
    );
    expect(record).toMatchObject({ arrivals: 6, sessionArrivals: 2, refused: 3, gateways: 1, kvUsage: null });
    expect([record.held.sum, record.inputTokens.sum, record.outputTokens.sum]).toEqual([1_700, 400, 50]);
  });

  it('of a gateway of the previous release count their requests as they end, each once', () => {
    const counts = {
      ok: 5,
      client_error: 1,
      overloaded: 2,
      server_error: 1,
      connect_error: 3,
      abandoned: 1,
      cancelled: 1,
    };
    const old = windowOf({ ...counts, retried: 3, overloaded_retried: 1 });
    const record = mergeWindows([old, windowOf({ ok: 7, arrivals: 2 })], MINUTE, 60);
    expect(record).toMatchObject({ arrivals: 12, refused: 0 });
    expect(record.stats.loads).toEqual(emptyLoads());
  });
});

describe('records', () => {
  const minute = (n: number, given: Partial<ServiceRecord> = {}): ServiceRecord => ({
    ...emptyRecord(new Date(MINUTE.getTime() + n * 60_000), 60),
    ...given,
  });
  const withLoad = (bucket: number, n: number) =>
    mergeWindows(
      [windowOf({ ok: n, e2e_latency_ms: values(10, n), loads: loadsOf({ [bucket]: values(10, n) }), arrivals: n })],
      MINUTE,
      60,
    );

  it('of an hour are its minutes added up, with the most gateways, instances and engine load of one minute', () => {
    const hour = mergeRecords([
      { ...withLoad(3, 4), gateways: 2, instances: 2, kvUsage: 0.5, waiting: null },
      minute(1, {
        arrivals: 9,
        instances: 3,
        gateways: 1,
        waiting: 4,
        held: values(50),
        refused: 1,
        sessionArrivals: 3,
      }),
      minute(2, { kvUsage: 0.25, waiting: 2 }),
    ]);
    expect(hour).toMatchObject({
      at: new Date('2026-01-01T10:00:00Z'),
      seconds: 3600,
      gateways: 2,
      instances: 3,
      arrivals: 13,
      sessionArrivals: 3,
      refused: 1,
      kvUsage: 0.5,
      waiting: 4,
    });
    expect(hour.stats.counts.ok).toBe(4);
    expect(hour.held.n).toBe(1);
    expect(buckets(hour)).toEqual({ 3: 4 });
    expect(hour.stats.loads.instances).toBe(3);
  });

  it('keep each load of a minute in its bucket', () => {
    const all = Array.from({ length: 18 }, (_, bucket) => withLoad(bucket, bucket + 1));
    expect(buckets(mergeRecords(all))).toEqual(
      Object.fromEntries(Array.from({ length: 18 }, (_, bucket) => [bucket, bucket + 1])),
    );
  });

  it('of several revisions at one time stay a minute, and have the instances of all', () => {
    const merged = mergeRecords([minute(0, { instances: 2, arrivals: 3 }), minute(0, { instances: 1, arrivals: 4 })]);
    expect(merged).toMatchObject({ at: MINUTE, seconds: 60, instances: 3, arrivals: 7 });
    const later = mergeRecords([minute(0, { instances: 2 }), minute(0, { instances: 1 }), minute(1, { instances: 2 })]);
    expect(later).toMatchObject({ seconds: 3600, instances: 3 });
  });
});

import { afterEach, expect, it } from '@jest/globals';
import {
  attemptFailures,
  deleteWindowsOlderThan,
  emptyCounts,
  emptyHistogram,
  histogramsOf,
  emptyLoads,
  requestFailures,
  lastWindowWith,
  statsBetween,
  writeWindows,
  type Callers,
  type StatsWindow,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;
afterEach(() => connection.sql('delete from dataplane_request_stats'));

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const windowAt = (second: number, counts: Partial<StatsWindow>): StatsWindow => ({
  ...emptyCounts(),
  revision_id: 'rev',
  tenant_id: 'ten',
  gateway_id: 'gw',
  window_start: at(second).toISOString(),
  streamed: 0,
  tokens_in: 0,
  tokens_out: 0,
  ...histogramsOf(() => emptyHistogram()),
  loads: null,
  callers: null,
  waits: null,
  faults: null,
  ...counts,
});
const window = (before: number, seconds: number, minAttempts: number) =>
  lastWindowWith(db, 'rev', { before: at(before), seconds, minAttempts });

it('stores each figure under its name', async () => {
  const figures = {
    ok: 1,
    client_error: 2,
    server_error: 3,
    connect_error: 4,
    cancelled: 5,
    retried: 6,
    overloaded: 17,
    abandoned: 18,
    overloaded_retried: 19,
  };
  const histogram = (n: number) => ({ n, sum: n, sq: n, b: { '0': n } });
  const latencies = {
    ttft_ms: histogram(10),
    itl_ms: histogram(11),
    e2e_latency_ms: histogram(12),
    longest_gap_ms: histogram(16),
    output_tokens_per_s: histogram(13),
  };
  const totals = { streamed: 7, tokens_in: 8, tokens_out: 9 };
  const loads = {
    instances: 3,
    alone_ms: 14,
    joined: 15,
    histograms: {
      ttft_ms: { 0: histogram(1) },
      itl_ms: { 0: histogram(2) },
      longest_gap_ms: { 1: histogram(3) },
      e2e_latency_ms: { 0: histogram(12) },
      output_tokens_per_s: { 2: histogram(4) },
    },
  };
  const callers: Callers = { 7: [20, 21, 22, 23, 24] };
  const waits = { left: histogram(25), waiting: histogram(26), callers: { 5: 27 } };
  await writeWindows(db, [windowAt(0, { ...figures, ...totals, ...latencies, loads, callers, waits })]);
  expect(await statsBetween(db, 'rev', at(0), at(1))).toEqual({
    counts: figures,
    ...totals,
    ...latencies,
    loads,
    callers,
    waits,
    slices: [latencies],
  });
});

it('separates the values of one moment from those of another, over all gateways', async () => {
  const value = (bucket: number) => ({ n: 1, sum: 1, sq: 1, b: { [bucket]: 1 } });
  await writeWindows(db, [
    windowAt(10, { ttft_ms: value(1) }),
    windowAt(11, { ttft_ms: value(2), gateway_id: 'gw_1' }),
    windowAt(11, { ttft_ms: value(2), gateway_id: 'gw_2' }),
    windowAt(49, { ttft_ms: value(3) }),
    windowAt(50, { ttft_ms: value(4) }),
  ]);
  const { slices } = await statsBetween(db, 'rev', at(10), at(50));
  expect(slices?.map(({ ttft_ms }) => ttft_ms.b)).toEqual([{ 1: 1, 2: 2 }, { 3: 1 }]);
});

it('adds up loads over gateways, each raised by the load of the other on the instance', async () => {
  const one = (sum: number) => ({ n: 1, sum, sq: sum, b: { 8: 1 } });
  const loads = { ...emptyLoads(), instances: 1, alone_ms: 5, joined: 1 };
  loads.histograms.e2e_latency_ms = { 0: one(2) };
  await writeWindows(db, [
    // Busy for half of the second: on average half a request more on the instance for the other gateway.
    windowAt(0, { gateway_id: 'gw_1', e2e_latency_ms: one(500), loads }),
    windowAt(0, { gateway_id: 'gw_2', e2e_latency_ms: one(2), loads }),
  ]);
  const merged = (await statsBetween(db, 'rev', at(0), at(1))).loads;
  expect(merged).toMatchObject({ instances: 1, alone_ms: 10, joined: 2 });
  expect(merged.histograms.e2e_latency_ms).toEqual({ 0: one(2), 2: one(2) });
});

it('leaves the records of an old gateway out of the loads, and counts them even so', async () => {
  const e2e_latency_ms = { n: 4, sum: 4, sq: 4, b: { 0: 4 } };
  await writeWindows(db, [windowAt(0, { ok: 4, e2e_latency_ms })]);
  expect(await statsBetween(db, 'rev', at(0), at(1))).toMatchObject({
    counts: { ok: 4 },
    e2e_latency_ms,
    loads: emptyLoads(),
  });
});

it('adds up requests by caller, and knows none if one gateway does not report them', async () => {
  await writeWindows(db, [
    windowAt(0, { gateway_id: 'gw_1', callers: { 1: [5, 1, 0, 0, 0], 2: [1, 0, 0, 0, 1] } }),
    windowAt(0, { gateway_id: 'gw_2', callers: { 2: [3, 0, 2, 1, 0] } }),
    windowAt(1, { gateway_id: 'gw_old' }),
  ]);
  expect((await statsBetween(db, 'rev', at(0), at(1))).callers).toEqual({ 1: [5, 1, 0, 0, 0], 2: [4, 0, 2, 1, 1] });
  expect((await statsBetween(db, 'rev', at(0), at(2))).callers).toBeUndefined();
});

it('adds up the waits of clients that left, and keeps those that last from the newest window of each gateway', async () => {
  const waits = (left: number, waiting: number) => ({
    left: { n: 1, sum: 1, sq: 1, b: { [left]: 1 } },
    waiting: { n: 1, sum: 1, sq: 1, b: { [waiting]: 1 } },
  });
  await writeWindows(db, [
    windowAt(0, { gateway_id: 'gw_1', waits: waits(90, 91) }),
    windowAt(1, { gateway_id: 'gw_1', waits: waits(92, 93) }),
    windowAt(0, { gateway_id: 'gw_2', waits: waits(94, 95) }),
  ]);
  const { left, waiting } = (await statsBetween(db, 'rev', at(0), at(2))).waits!;
  expect(left.b).toEqual({ 90: 1, 92: 1, 94: 1 });
  expect(waiting.b).toEqual({ 93: 1, 95: 1 });
});

it('keeps a stored window unchanged when it is sent again, whatever its content', async () => {
  await writeWindows(db, [windowAt(0, { ok: 1 })]);
  await writeWindows(db, [windowAt(0, { ok: 1 }), windowAt(1, { ok: 2 })]);
  expect((await statsBetween(db, 'rev', at(0), at(2))).counts.ok).toBe(3);
  await writeWindows(db, []);
});

it('reads the seconds from the first one, up to the last one and without it', async () => {
  await writeWindows(
    db,
    [0, 1, 2, 3].map((second) => windowAt(second, { ok: 10 ** second })),
  );
  await writeWindows(db, [windowAt(1, { ok: 50_000, revision_id: 'rev_other' })]);
  expect((await statsBetween(db, 'rev', at(1), at(3))).counts.ok).toBe(110);
});

it('finds the newest window with enough requests, in seconds that ended in time', async () => {
  await writeWindows(db, [
    windowAt(10, { ok: 30, gateway_id: 'gw_1' }),
    windowAt(10, { ok: 30, gateway_id: 'gw_2', cancelled: 1_000 }),
    windowAt(11, {
      client_error: 3,
      overloaded: 7,
      server_error: 5,
      connect_error: 1_010,
      retried: 1_000,
      overloaded_retried: 5,
    }),
    windowAt(12, { ok: 1 }),
    windowAt(30, { ok: 4 }),
    windowAt(11, { ok: 1_000, revision_id: 'rev_other' }),
  ]);
  // Exactly as many as requested, over both gateways; requests that clients left and retried failures do not count.
  expect(await window(60, 2, 80)).toEqual({ from: at(10), to: at(12) });
  expect(await window(60, 2, 81)).toBeNull();
  expect(await window(60, 3, 81)).toEqual({ from: at(10), to: at(13) });
  expect(await window(60, 1, 20)).toEqual({ from: at(11), to: at(12) });
  // The newest window with enough requests, and not the fullest.
  expect(await window(60, 1, 1)).toEqual({ from: at(30), to: at(31) });
  expect(await window(30, 1, 1)).toEqual({ from: at(12), to: at(13) });
  expect(await window(12, 2, 80)).toEqual({ from: at(10), to: at(12) });
  expect(await window(11, 2, 61)).toBeNull();
  expect(await window(11, 2, 60)).toEqual({ from: at(9), to: at(11) });
});

it('counts what says something about a revision, and a client’s mistakes as served', () => {
  const counts = {
    ...emptyCounts(),
    ok: 5,
    client_error: 3,
    server_error: 1,
    connect_error: 1,
    cancelled: 90,
    abandoned: 80,
    retried: 2,
  };
  expect(attemptFailures(counts)).toEqual({ failed: 2, of: 10 });
  expect(attemptFailures({ ...emptyCounts(), cancelled: 3 })).toEqual({ failed: 0, of: 0 });
});

it('counts for the clients what they saw: an attempt that a retry repaired is no request and no error', () => {
  const repaired = { ...emptyCounts(), ok: 363, connect_error: 2, retried: 2 };
  expect(requestFailures(repaired)).toEqual({ failed: 0, of: 363 });
  expect(attemptFailures(repaired)).toEqual({ failed: 2, of: 365 });
  const lost = { ...emptyCounts(), ok: 1, connect_error: 3, retried: 2 };
  expect(requestFailures(lost)).toEqual({ failed: 1, of: 2 });
});

it('forgets windows when they are old enough', async () => {
  const ago = (seconds: number): Partial<StatsWindow> => ({
    window_start: new Date(Date.now() - seconds * 1_000).toISOString(),
  });
  const young = ago(2 * 86_400 - 100);
  await writeWindows(db, [windowAt(0, ago(4 * 86_400)), windowAt(0, ago(2 * 86_400 + 100)), windowAt(0, young)]);
  const left = () => connection.sql('select 1 from dataplane_request_stats');
  expect(await deleteWindowsOlderThan(db, 2, 1)).toBe(1);
  expect(await left()).toHaveLength(2);
  expect(await deleteWindowsOlderThan(db, 2, 5)).toBe(1);
  expect(await deleteWindowsOlderThan(db, 2, 5)).toBe(0);
  expect(await left()).toHaveLength(1);
});

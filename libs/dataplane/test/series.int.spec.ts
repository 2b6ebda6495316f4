import { afterEach, expect, it } from '@jest/globals';
import { DISTRIBUTIONS } from '@slipway/contracts';
import {
  emptyLoads,
  histogramsOf,
  statsBetween,
  statsSeries,
  writeWindows,
  type Histogram,
  type StatsWindow,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;
afterEach(() => connection.sql('delete from dataplane_request_stats'));

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const one = (bucket: number, n = 1): Histogram => ({ n, sum: n * 2, sq: n * 3, b: { [bucket]: n } });
const windowAt = (second: number, given: Partial<StatsWindow> = {}): StatsWindow => ({
  revision_id: 'rev',
  tenant_id: 'ten',
  gateway_id: 'gw',
  window_start: at(second).toISOString(),
  ok: 1,
  client_error: 2,
  overloaded: 11,
  server_error: 3,
  connect_error: 4,
  abandoned: 12,
  cancelled: 5,
  retried: 6,
  overloaded_retried: 10,
  streamed: 7,
  tokens_in: 8,
  tokens_out: 9,
  ...histogramsOf((metric) => one(DISTRIBUTIONS.indexOf(metric))),
  loads: null,
  callers: null,
  waits: null,
  faults: null,
  ...given,
});
const read = (from: number, to: number, stepSeconds: number, ids = ['rev'], most = 10) =>
  statsSeries(db, ids, { from: at(from), to: at(to), stepSeconds, most });
const starts = async (...asked: Parameters<typeof read>) =>
  Object.fromEntries(
    [...(await read(...asked)).steps].map(([id, steps]) => [id, steps.map((step) => step.at.getUTCSeconds())]),
  );

it('adds up a step over seconds and gateways to the values that a gate reads for that time', async () => {
  await writeWindows(db, [
    windowAt(10),
    windowAt(11, { gateway_id: 'gw_1', ttft_ms: one(5, 3) }),
    windowAt(11, { gateway_id: 'gw_2', ttft_ms: { n: 2, sum: 1, sq: 1, b: { 0: 1, '-80': 1 } } }),
    windowAt(19, { ok: 100 }),
  ]);
  const { steps } = await read(10, 20, 10);
  const { loads: _loads, slices: _slices, ...judged } = await statsBetween(db, 'rev', at(10), at(20));
  expect(steps.get('rev')).toEqual([{ at: at(10), instances: null, stats: { ...judged, loads: expect.anything() } }]);
  expect(judged.counts.ok).toBe(103);
  expect(judged.ttft_ms.b).toEqual({ '-80': 1, 0: 3, 5: 3 });
});

it('begins steps at multiples of their length, and leaves out those in which nothing ended', async () => {
  await writeWindows(
    db,
    [9, 10, 14, 15, 29, 30].map((second) => windowAt(second)),
  );
  expect(await starts(10, 30, 5)).toEqual({ rev: [10, 15, 25] });
  expect(await starts(12, 30, 5)).toEqual({ rev: [10, 15, 25] });
  expect(await starts(16, 25, 5)).toEqual({});
});

it('returns the first revisions that have recorded something, and that there are more', async () => {
  await writeWindows(
    db,
    [1, 2, 3].map((number) => windowAt(10, { revision_id: `rev_${number}` })),
  );
  await writeWindows(db, [windowAt(0, { revision_id: 'rev_4' }), windowAt(10, { revision_id: 'rev_foreign' })]);
  const newest = ['rev_4', 'rev_3', 'rev_2', 'rev_1'];
  const two = await read(10, 20, 1, newest, 2);
  expect([...two.steps.keys()].sort()).toEqual(['rev_2', 'rev_3']);
  expect(two.hasMore).toBe(true);
  const all = await read(10, 20, 1, newest, 3);
  expect([...all.steps.keys()].sort()).toEqual(['rev_1', 'rev_2', 'rev_3']);
  expect(all.hasMore).toBe(false);
  expect(await read(10, 20, 1, [])).toEqual({ steps: new Map(), hasMore: false });
});

it('returns the most instances that a gateway had, even if other gateways do not report theirs', async () => {
  const loads = (instances: number) => ({ instances, alone_ms: 0, joined: 0, histograms: emptyLoads().histograms });
  await writeWindows(db, [
    windowAt(10, { loads: loads(2) }),
    windowAt(10, { gateway_id: 'gw_1', loads: loads(3) }),
    windowAt(11),
    windowAt(20),
  ]);
  expect((await read(10, 30, 10)).steps.get('rev')?.map(({ instances }) => instances)).toEqual([3, null]);
});

it('counts a window from before a metric existed', async () => {
  await writeWindows(db, [windowAt(10)]);
  await connection.sql(`update dataplane_request_stats set histograms = '{}'`);
  const [step] = (await read(10, 20, 10)).steps.get('rev') ?? [];
  expect(step?.stats).toMatchObject({ counts: { ok: 1 }, ttft_ms: { n: 0, b: {} } });
});

it('turns the compiler of Postgres off for its own transaction alone', async () => {
  await connection.sql('begin');
  await read(10, 20, 10);
  expect(await connection.sql('show jit')).toEqual([{ jit: 'off' }]);
  await connection.sql('commit');
  expect(await connection.sql('show jit')).toEqual([{ jit: 'on' }]);
});

import { expect, it } from '@jest/globals';
import type { StatsWindow } from '@slipway/dataplane';
import { callerBucketOf, callerOf, type AttemptRecord } from './measurement.js';
import { Recorder } from './recorder.js';

const good: AttemptRecord = {
  class: 'ok',
  isRetried: false,
  e2eMs: 100,
  ttftMs: 20,
  isStream: true,
  metering: { tokensIn: 1, tokensOut: 5, firstTokenAt: 1, itlMs: 10, longestGapMs: 25 },
  load: { mean: 1, untilFirstToken: 1, aloneMs: null, isJoined: false },
  instances: 1,
};

it('closes a window when its second is over, writes it once, and reports up to when nothing is missing', () => {
  const recorder = new Recorder('gw', 10_000);
  recorder.add('rev', 'ten', good, 10_100);
  recorder.add('rev', 'ten', { ...good, class: 'server_error' }, 10_900);
  expect(recorder.take(10_950)).toEqual({ windows: [], until: new Date(10_000) });
  recorder.add('rev', 'ten', good, 11_000);
  const { windows, until } = recorder.take(11_200);
  expect(until).toEqual(new Date(11_000));
  expect(windows).toHaveLength(1);
  expect(windows[0]).toMatchObject({
    revision_id: 'rev',
    gateway_id: 'gw',
    window_start: '1970-01-01T00:00:10.000Z',
    ok: 1,
    server_error: 1,
    streamed: 1,
    tokens_out: 5,
  });
  expect([windows[0]?.itl_ms.n, windows[0]?.longest_gap_ms.sum]).toEqual([1, 25]);
  expect(recorder.take(11_300).windows).toEqual([]);
});

it('never reopens a second whose row may be written, even if the clock is set back', () => {
  const recorder = new Recorder('gw', 10_000);
  recorder.add('rev', 'ten', good, 20_000);
  recorder.add('rev', 'ten', good, 15_000);
  const { windows } = recorder.take(21_000);
  expect(windows.map((window) => [window.window_start, window.ok])).toEqual([['1970-01-01T00:00:20.000Z', 2]]);
});

it('keeps what could not be stored, up to a bound', () => {
  const recorder = new Recorder('gw', 0);
  recorder.add('rev', 'ten', good, 0);
  const { windows } = recorder.take(1_000);
  recorder.putBack(windows);
  expect(recorder.take(1_100).windows).toEqual(windows);
  recorder.putBack(new Array(20_005).fill(windows[0]));
  expect([recorder.take(1_200).windows.length, recorder.lostWindows]).toEqual([20_000, 5]);
});

it('drops the oldest of too many windows', () => {
  const recorder = new Recorder('gw', 0);
  const window = (ok: number): StatsWindow => ({ ok }) as StatsWindow;
  recorder.putBack(Array.from({ length: 20_000 }, (_, n) => window(n)));
  recorder.putBack([window(-2), window(-1)]);
  const { windows } = recorder.take(0);
  expect([windows.length, windows[0]?.ok, windows.at(-1)?.ok]).toEqual([20_000, 0, 19_999]);
});

it('counts each attempt in its class, and measures no failed ones', () => {
  const recorder = new Recorder('gw', 0);
  for (const outcome of ['client_error', 'overloaded', 'server_error', 'connect_error', 'cancelled'] as const)
    recorder.add('rev', 'ten', { ...good, class: outcome, isRetried: outcome === 'connect_error' }, 0);
  recorder.add('rev', 'ten', good, 0);
  recorder.add('rev', 'ten', { ...good, isStream: false, ttftMs: null }, 0);
  const { windows } = recorder.take(1_000);
  expect(windows[0]).toMatchObject({
    ok: 2,
    client_error: 1,
    overloaded: 1,
    server_error: 1,
    connect_error: 1,
    abandoned: 0,
    cancelled: 1,
    retried: 1,
    overloaded_retried: 0,
    streamed: 1,
    tokens_in: 2,
    tokens_out: 10,
  });
  const { ttft_ms: ttft, itl_ms: itl, e2e_latency_ms: e2e, output_tokens_per_s: rate } = windows[0] as StatsWindow;
  expect([ttft.n, itl.n, e2e.n, rate.n]).toEqual([1, 1, 2, 2]);
  // Five tokens in a tenth of a second.
  expect([ttft.sum, itl.sum, e2e.sum, rate.sum]).toEqual([20, 10, 200, 100]);
  expect(recorder.totals.get('rev')?.counts).toMatchObject({ ok: 2, cancelled: 1 });
});

it('sorts measurements of successful attempts by load, and counts the time alone and those that joined', () => {
  const recorder = new Recorder('gw', 0);
  const load = { mean: 5, untilFirstToken: 2, aloneMs: null, isJoined: false };
  recorder.add('rev', 'ten', { ...good, load, instances: 2 }, 0);
  recorder.add('rev', 'ten', { ...good, load: { ...load, mean: 1.01, aloneMs: 30, isJoined: true } }, 0);
  // It measures nothing, but its time alone still counts.
  recorder.add('rev', 'ten', { ...good, class: 'server_error', load: { ...load, aloneMs: 12, isJoined: false } }, 0);
  // An answer that is no stream has no first token.
  recorder.add('rev', 'ten', { ...good, isStream: false, ttftMs: null, load: { ...load, untilFirstToken: null } }, 0);
  const { loads } = recorder.take(1_000).windows[0] as StatsWindow;
  expect(loads).toMatchObject({ instances: 2, alone_ms: 42, joined: 1 });
  const samples = (by: Record<string, { n: number }>) => Object.entries(by).map(([bucket, { n }]) => [bucket, n]);
  expect(samples(loads!.histograms.e2e_latency_ms)).toEqual([
    ['0', 1],
    ['5', 2],
  ]);
  expect(samples(loads!.histograms.ttft_ms)).toEqual([['3', 2]]);
});

it('measures an abandoned stream as at least the time that its client waited, at the load until then', () => {
  const recorder = new Recorder('gw', 0);
  const load = { ...good.load, mean: 4, untilFirstToken: null };
  const abandoned = {
    ...good,
    class: 'abandoned',
    e2eMs: 3_000,
    ttftMs: 3_000,
    waitedMs: 3_500,
    metering: null,
  } as const;
  recorder.add('rev', 'ten', { ...abandoned, load }, 0);
  const [window] = recorder.take(1_000).windows as [StatsWindow];
  expect(window).toMatchObject({ ok: 0, abandoned: 1, streamed: 0, tokens_out: 0 });
  expect([window.ttft_ms.sum, window.e2e_latency_ms.sum, window.itl_ms.n]).toEqual([3_000, 3_000, 0]);
  expect(Object.keys(window.loads!.histograms.ttft_ms)).toEqual(['5']);
  expect([window.waits?.left.sum, window.waits?.waiting.n]).toEqual([3_500, 0]);
});

it('counts requests by caller as their clients saw them', () => {
  const recorder = new Recorder('gw', 0);
  const caller = callerOf('tok_1', 'session');
  const add = (more: Partial<AttemptRecord>): void => recorder.add('rev', 'ten', { ...good, caller, ...more }, 0);
  add({});
  add({ class: 'server_error', isRetried: true });
  add({ class: 'overloaded', isRetried: true });
  add({ class: 'connect_error' });
  add({ class: 'client_error' });
  add({ class: 'overloaded' });
  add({ class: 'abandoned', metering: null });
  add({ class: 'cancelled' });
  add({ caller: callerOf('tok_2', undefined) });
  const [window] = recorder.take(1_000).windows as [StatsWindow];
  expect(window.callers).toEqual({
    [callerBucketOf(caller)]: [5, 1, 1, 1, 1],
    [callerBucketOf(callerOf('tok_2', undefined))]: [1, 0, 0, 0, 0],
  });
  expect([window.retried, window.overloaded_retried]).toEqual([1, 1]);
});

it('spreads callers over all buckets', () => {
  const buckets = new Set(Array.from({ length: 1_000 }, (_, n) => callerBucketOf(callerOf('tok_1', `s${n}`))));
  expect([buckets.size, Math.min(...buckets), Math.max(...buckets)]).toEqual([64, 0, 63]);
});

it('records how long requests wait, also for a revision on which nothing else happens', () => {
  const recorder = new Recorder('gw', 0);
  const caller = callerOf('tok_1', undefined);
  const key = (id: string) => ({ keys: [{ id, tenantId: 'ten' }], caller, startedAt: performance.now() });
  const long = {
    ...key('silent'),
    keys: [...key('silent').keys, ...key('bnd').keys],
    startedAt: performance.now() - 5_000,
  };
  for (const request of [long, key('silent'), key('short'), key('busy')]) recorder.waiting.add(request);
  recorder.add('busy', 'ten', good, 0);
  const waits = Object.fromEntries(recorder.take(1_000).windows.map((one) => [one.revision_id, one.waits!]));
  const counted = Object.entries(waits).map(([id, { waiting }]) => [id, waiting.n]);
  expect(Object.fromEntries(counted)).toEqual({ silent: 2, bnd: 1, busy: 1 });
  // Only those that wait for long.
  expect(waits['silent']!.callers).toEqual({ [callerBucketOf(caller)]: 1 });
  expect(waits['busy']!.callers).toEqual({});
  recorder.waiting.delete(long);
  expect(recorder.take(2_000).windows).toEqual([]);
});

it('bounds what a row records of loads, however many requests are in flight', () => {
  const recorder = new Recorder('gw', 0);
  for (let mean = 1; mean < 1e6; mean *= 1.1)
    recorder.add('rev', 'ten', { ...good, load: { ...good.load, mean, untilFirstToken: mean } }, 0);
  const { loads } = recorder.take(1_000).windows[0] as StatsWindow;
  for (const by of Object.values(loads!.histograms)) expect(Object.keys(by)).toHaveLength(18);
});

it('closes the open second at shutdown, even before it is over', () => {
  const recorder = new Recorder('gw', 5_000);
  recorder.add('rev', 'ten', good, 5_100);
  expect(recorder.takeAll().map((window) => window.window_start)).toEqual(['1970-01-01T00:00:05.000Z']);
  expect(recorder.takeAll()).toEqual([]);
});

it('removes totals of revisions that are gone once there are very many', () => {
  const recorder = new Recorder('gw', 0);
  for (let n = 0; n < 1_000; n += 1) recorder.add(`rev_${n}`, 'ten', good, 0);
  recorder.forgetTotals(() => false);
  expect(recorder.totals.size).toBe(1_000);
  recorder.add('rev_1000', 'ten', good, 0);
  recorder.forgetTotals((id) => id === 'rev_7');
  expect([...recorder.totals.keys()]).toEqual(['rev_7']);
});

it('counts requests when they come, and has a window for a revision on which nothing ended', () => {
  const recorder = new Recorder('gw', 0);
  const keys = [
    { id: 'rev', tenantId: 'ten' },
    { id: 'bnd', tenantId: 'ten' },
  ];
  recorder.arrive(keys, 3, true, 100);
  recorder.arrive(keys.slice(0, 1), 2, false, 200);
  const windows = recorder.take(1_000).windows;
  expect(windows.map((one) => [one.revision_id, one.arrivals, one.session_arrivals, one.loads?.instances])).toEqual([
    ['rev', 2, 1, 3],
    ['bnd', 1, 1, 3],
  ]);
  expect(windows[0]).toMatchObject({ ok: 0, refused: 0, held: null, tokens: null, starting: null });
  // The answer ends later, and its second has no arrival.
  recorder.add('rev', 'ten', good, 1_500);
  expect(recorder.take(2_000).windows[0]).toMatchObject({ ok: 1, arrivals: 0, session_arrivals: 0 });
  expect(recorder.totals.get('bnd')).toBeUndefined();
});

it('records how long requests were held, and how many were refused', () => {
  const recorder = new Recorder('gw', 0);
  const keys = [{ id: 'rev', tenantId: 'ten' }];
  recorder.hold(keys, 800, 0);
  recorder.hold(keys, 1_200, 0);
  recorder.refuse(keys, 0);
  const [window] = recorder.take(1_000).windows;
  expect(window).toMatchObject({ arrivals: 0, refused: 1, held: { n: 2, sum: 2_000 } });
});

it('records the tokens of successful requests, as far as they are known', () => {
  const recorder = new Recorder('gw', 0);
  const tokens = (tokensIn: number, tokensOut: number) => ({ ...good.metering!, tokensIn, tokensOut });
  recorder.add('rev', 'ten', { ...good, metering: tokens(100, 20) }, 0);
  recorder.add('rev', 'ten', { ...good, metering: tokens(0, 30) }, 0);
  recorder.add('rev', 'ten', { ...good, metering: tokens(300, 0) }, 0);
  recorder.add('rev', 'ten', { ...good, class: 'server_error', metering: tokens(5_000, 5_000) }, 0);
  const [window] = recorder.take(1_000).windows;
  expect(window?.tokens).toMatchObject({ input: { n: 2, sum: 400 }, output: { n: 2, sum: 50 } });
  recorder.add('rev', 'ten', { ...good, metering: tokens(0, 0) }, 1_000);
  expect(recorder.take(2_000).windows[0]?.tokens).toBeNull();
});

it('has the requests of starting instances among the others, and apart', () => {
  const recorder = new Recorder('gw', 0);
  const load = { mean: 3, untilFirstToken: 1, aloneMs: 40, isJoined: true };
  recorder.add('rev', 'ten', { ...good, load, isStarting: true, ttftMs: 900 }, 0);
  recorder.add('rev', 'ten', { ...good, load, isStarting: false }, 0);
  recorder.add('rev', 'ten', { ...good, load, isStarting: true, class: 'server_error' }, 0);
  const [window] = recorder.take(1_000).windows as [StatsWindow];
  expect(window.loads).toMatchObject({ alone_ms: 120, joined: 3 });
  expect(window.starting).toMatchObject({ alone_ms: 80, joined: 2 });
  expect(window.loads!.histograms.ttft_ms).toMatchObject({ 0: { n: 2, sum: 920 } });
  expect(window.starting!.histograms.ttft_ms).toEqual({ 0: expect.objectContaining({ n: 1, sum: 900 }) });
  expect(Object.keys(window.starting!.histograms.e2e_latency_ms)).toEqual(['4']);
});

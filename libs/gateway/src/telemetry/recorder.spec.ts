import { expect, it } from '@jest/globals';
import type { StatsWindow } from '@slipway/dataplane';
import type { AttemptRecord } from './measurement.js';
import { Recorder } from './recorder.js';

const good: AttemptRecord = {
  class: 'ok',
  isRetried: false,
  e2eMs: 100,
  ttftMs: 20,
  isStream: true,
  metering: { tokensIn: 1, tokensOut: 5, firstTokenAt: 1, gaps: [[10, 4]] },
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
  expect(windows[0]?.itl_ms.n).toBe(4);
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

it('counts each attempt in its class, and measures only successful ones', () => {
  const recorder = new Recorder('gw', 0);
  for (const outcome of ['client_error', 'server_error', 'connect_error', 'cancelled'] as const)
    recorder.add('rev', 'ten', { ...good, class: outcome, isRetried: outcome === 'connect_error' }, 0);
  recorder.add('rev', 'ten', good, 0);
  recorder.add('rev', 'ten', { ...good, isStream: false, ttftMs: null }, 0);
  const { windows } = recorder.take(1_000);
  expect(windows[0]).toMatchObject({
    ok: 2,
    client_error: 1,
    server_error: 1,
    connect_error: 1,
    cancelled: 1,
    retried: 1,
    streamed: 1,
    tokens_in: 2,
    tokens_out: 10,
  });
  const { ttft_ms: ttft, itl_ms: itl, e2e_latency_ms: e2e, output_tokens_per_s: rate } = windows[0] as StatsWindow;
  expect([ttft.n, itl.n, e2e.n, rate.n]).toEqual([1, 4, 2, 2]);
  // Five tokens in a tenth of a second.
  expect([ttft.sum, itl.sum, e2e.sum, rate.sum]).toEqual([20, 40, 200, 100]);
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

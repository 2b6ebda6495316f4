import { expect, it } from '@jest/globals';
import { Recorder, type AttemptRecord } from './recorder.js';

const good: AttemptRecord = {
  class: 'ok',
  isRetried: false,
  e2eMs: 100,
  ttftMs: 20,
  isStream: true,
  metering: { tokensIn: 1, tokensOut: 5, firstTokenAt: 1, gaps: [[10, 4]] },
};

it('closes a window when its second is over, writes it once, and says until when nothing is missing', () => {
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

it('never reopens a second whose row may be written, also when the clock is set back', () => {
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

import { expect, it } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { PacedAnswer } from './paced-answer.js';

const EVENT_STREAM = { 'content-type': 'text/event-stream' };

/** An answer whose pieces take this long to read by a clock of the test, and what reached its reader. */
function answer(costMs: number, headers: Record<string, string> = EVENT_STREAM) {
  const log: string[] = [];
  let now = 1_000;
  let isPaused = false;
  let received = '';
  let onPiece: (paced: PacedAnswer) => void = () => undefined;
  const upstream = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
    abort: (error: Error) => void log.push(`abort ${error.message}`),
  } as unknown as Dispatcher.DispatchController;
  const handler: Dispatcher.DispatchHandler = {
    onResponseData(_controller, piece) {
      now += costMs;
      received += piece.toString('latin1');
      log.push(String(piece.length));
      onPiece(paced);
    },
    onResponseEnd: () => void log.push('end'),
    onResponseError: (_controller, error) => void log.push(error.message),
  };
  const paced = new PacedAnswer(handler, () => now);
  paced.onRequestStart(upstream, null);
  paced.onResponseStart(upstream, 200, headers);
  return {
    paced,
    log,
    isPaused: () => isPaused,
    received: () => received,
    atPiece: (call: (paced: PacedAnswer) => void) => (onPiece = call),
    pass: (ms: number) => (now += ms),
    give: (size: number) => paced.onResponseData(upstream, bytes(size)),
    end: () => paced.onResponseEnd(upstream, {}),
    fail: () => paced.onResponseError(upstream, new Error('broken')),
  };
}

const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, (_, at) => at % 251));
const nextRun = () => new Promise((resolve) => setImmediate(resolve));
const KIB = 1024;

it('passes cheap chunks at once, and the end after them', () => {
  const cheap = answer(0);
  cheap.give(100);
  cheap.give(5);
  cheap.end();
  expect(cheap.log).toEqual(['100', '5', 'end']);
  expect(cheap.isPaused()).toBe(false);
});

it('reads a costly chunk in several runs, in order, and reports the end after its last piece', async () => {
  const costly = answer(11);
  costly.give(40 * KIB);
  costly.give(7);
  costly.end();
  expect(costly.log).toEqual([String(16 * KIB)]);
  expect(costly.isPaused()).toBe(true);
  await nextRun();
  expect(costly.log).toHaveLength(2);
  while (costly.log.at(-1) !== 'end') await nextRun();
  expect(costly.log).toEqual([16 * KIB, 16 * KIB, 8 * KIB, 7, 'end'].map(String));
  expect(costly.received()).toBe(bytes(40 * KIB).toString('latin1') + bytes(7).toString('latin1'));
});

it('resumes the connection once it has read what arrived', async () => {
  const costly = answer(11);
  costly.give(20 * KIB);
  while (costly.isPaused()) await nextRun();
  expect(costly.log).toHaveLength(2);
});

it('ends the run of many chunks that arrived together', async () => {
  const many = answer(4);
  for (let count = 0; count < 5; count += 1) many.give(10);
  expect(many.log).toHaveLength(3);
  await nextRun();
  expect(many.log).toHaveLength(5);
});

it('begins a new run for chunks that arrive later', () => {
  const many = answer(4);
  for (let count = 0; count < 5; count += 1) {
    many.give(10);
    many.pass(2);
  }
  expect(many.log).toHaveLength(5);
});

it('keeps an answer that is no stream in one piece', () => {
  const whole = answer(0, { 'content-type': 'application/json' });
  whole.give(60 * KIB);
  expect(whole.log).toEqual([String(60 * KIB)]);
});

it('hands on nothing while its client reads too slowly', async () => {
  const slow = answer(0);
  slow.atPiece((paced) => paced.pause());
  slow.give(40 * KIB);
  slow.end();
  for (let runs = 0; runs < 3; runs += 1) await nextRun();
  expect(slow.log).toEqual([String(16 * KIB)]);
  expect([slow.paced.paused, slow.isPaused()]).toEqual([true, true]);
  slow.atPiece(() => undefined);
  slow.paced.resume();
  while (slow.log.at(-1) !== 'end') await nextRun();
  expect(slow.received()).toHaveLength(40 * KIB);
});

it('reports the end of an answer whose client stopped reading at its last piece', async () => {
  const slow = answer(11);
  slow.atPiece((paced) => paced.pause());
  slow.give(10);
  slow.end();
  slow.atPiece(() => undefined);
  slow.paced.resume();
  while (slow.log.at(-1) !== 'end') await nextRun();
});

it.each([true, false])('reports a broken connection once (while its client reads too slowly: %s)', async (isSlow) => {
  const broken = answer(11);
  if (isSlow) broken.atPiece((paced) => paced.pause());
  broken.give(40 * KIB);
  broken.fail();
  while (broken.log.at(-1) !== 'broken') await nextRun();
  broken.fail();
  await nextRun();
  expect(broken.log.filter((entry) => entry === 'broken')).toHaveLength(1);
  expect(broken.received()).toHaveLength(isSlow ? 16 * KIB : 40 * KIB);
});

it('hands on nothing after it was aborted', async () => {
  const aborted = answer(11);
  aborted.give(40 * KIB);
  aborted.paced.abort(new Error('no more'));
  for (let runs = 0; runs < 3; runs += 1) await nextRun();
  expect(aborted.log).toEqual([String(16 * KIB), 'abort no more']);
});

it('aborts the connection if a later piece cannot be handed on', async () => {
  const failing = answer(11);
  failing.give(40 * KIB);
  failing.atPiece(() => {
    throw new Error('unexpected');
  });
  await nextRun();
  await nextRun();
  expect(failing.log.at(-1)).toBe('abort unexpected');
});

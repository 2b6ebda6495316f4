import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { HeldBytes } from '@slipway/platform-bounds';
import { assertAcceptable, readBody } from './body-reader.js';

const HELD: HeldBytes = { take: () => undefined, give: () => undefined, release: () => undefined };
const TEXT = '{"model":"m"}';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

function request(headers: Record<string, string>): PassThrough {
  return Object.assign(new PassThrough(), { headers });
}
const reading = (from: PassThrough) => readBody(from as unknown as IncomingMessage, 1_000, HELD);
const tick = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it.each([
  ['says nothing', ''],
  ['stops in its midst', TEXT.slice(0, 5)],
])('refuses a body that %s for a minute', async (_what, begun) => {
  for (const headers of [{ 'content-length': String(TEXT.length) }, {}] as Record<string, string>[]) {
    const from = request(headers);
    const read = reading(from).catch((error: unknown) => error);
    if (begun) from.write(begun);
    await tick();
    jest.advanceTimersByTime(59_999);
    const isPending = await Promise.race([read.then(() => false), tick().then(() => true)]);
    jest.advanceTimersByTime(1);
    expect([isPending, await read]).toEqual([true, expect.objectContaining({ status: 408 })]);
  }
});

it('needs no timer for a body that arrives together with its head, and keeps none for one that has arrived', async () => {
  const together = request({ 'content-length': String(TEXT.length) });
  const read = reading(together);
  together.write(TEXT);
  await tick();
  expect(jest.getTimerCount()).toBe(0);
  together.end();
  expect((await read).fields).toEqual({ model: 'm' });

  const later = request({ 'content-length': String(TEXT.length) });
  const slow = reading(later);
  await tick();
  expect(jest.getTimerCount()).toBe(1);
  later.end(TEXT);
  await slow;
  expect(jest.getTimerCount()).toBe(0);
});

it('keeps a body that arrives byte by byte in few pieces, because each one costs memory', async () => {
  const joined = jest.spyOn(Buffer, 'concat');
  const from = request({});
  const read = reading(from);
  for (const letter of `{"model":"${'m'.repeat(500)}"}`) {
    from.write(letter);
    await tick();
  }
  from.end();
  expect((await read).fields).toEqual({ model: 'm'.repeat(500) });
  const pieces = joined.mock.calls.map(([list]) => list.length);
  expect(pieces.length).toBeGreaterThan(0);
  expect(Math.max(...pieces)).toBeLessThan(50);
  joined.mockRestore();
});

it('accepts JSON without a content encoding only', () => {
  const check = (headers: Record<string, string>) => () =>
    assertAcceptable(
      Object.assign(request(headers), { rawHeaders: Object.entries(headers).flat() }) as unknown as IncomingMessage,
      1_000,
    );
  for (const encoding of ['identity', 'Identity', '']) expect(check({ 'content-encoding': encoding })).not.toThrow();
  for (const encoding of ['gzip', 'identity, br', 'x'])
    expect(check({ 'content-encoding': encoding })).toThrow(expect.objectContaining({ status: 415 }));
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/x+json',
    'application/json;charset="UTF8"',
  ])
    expect(check({ 'content-type': type })).not.toThrow();
  for (const type of [
    'text/plain',
    'application/jsonl',
    'multipart/form-data',
    'application/json; charset=utf-16',
    'application/json; x',
  ])
    expect(check({ 'content-type': type })).toThrow(
      expect.objectContaining({ status: 415, headers: { accept: 'application/json', 'accept-encoding': 'identity' } }),
    );
  const twice = { 'content-type': 'application/json' };
  const rawHeaders = ['Content-Type', 'application/json', 'content-type', 'text/plain'];
  const sent = Object.assign(request(twice), { rawHeaders }) as unknown as IncomingMessage;
  expect(() => assertAcceptable(sent, 1_000)).toThrow(expect.objectContaining({ status: 415 }));
});

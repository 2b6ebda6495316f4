import { expect, it } from '@jest/globals';
import type { LogLine, LogOptions, TargetDriver } from '@slipway/target-driver';
import { lastLines } from './failed-starts.js';

const line = (text: string): LogLine => ({ stream: 'stderr', text });

/** A driver whose instances have written this; and what it was asked for. */
function driverOf(output: (options: LogOptions) => AsyncIterable<LogLine>) {
  const asked: LogOptions[] = [];
  const driver: Pick<TargetDriver, 'logs'> = {
    logs: (_instanceId, options) => {
      asked.push(options);
      return output(options);
    },
  };
  return { driver, asked };
}

it('asks for the end of the life before, and takes out what the engine was given', async () => {
  const { driver, asked } = driverOf(async function* () {
    yield line('loading with sesame-street');
    yield line('out of memory');
  });
  expect(await lastLines(driver, 'ins_1', ['sesame-street'])).toEqual(['loading with [redacted]', 'out of memory']);
  expect(asked).toMatchObject([
    { tail: 40, stream: 'both', previous: true, follow: false, secrets: ['sesame-street'] },
  ]);
});

it('takes no more than was asked for, and tells the driver that it is done', async () => {
  let isClosed = false;
  const { driver } = driverOf(async function* () {
    try {
      for (let count = 0; ; count += 1) yield line(String(count));
    } finally {
      isClosed = true;
    }
  });
  const lines = await lastLines(driver, 'ins_1', []);
  expect([lines.length, lines[0], lines[39]]).toEqual([40, '0', '39']);
  expect(isClosed).toBe(true);
});

it('keeps what was told before the driver failed, or hung', async () => {
  const failing = driverOf(async function* () {
    yield line('one');
    throw new Error('403');
  });
  expect(await lastLines(failing.driver, 'ins_1', [])).toEqual(['one']);
  const hanging = driverOf(async function* () {
    yield line('one');
    await new Promise(() => undefined);
  });
  const beganAt = performance.now();
  expect(await lastLines(hanging.driver, 'ins_1', [], 50)).toEqual(['one']);
  expect(performance.now() - beganAt).toBeLessThan(2_000);
});

it('has nothing where a driver keeps no output', async () => {
  expect(await lastLines({}, 'ins_1', [])).toEqual([]);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import ts from 'typescript';
import { joinSignals, timeLimit, withinTime } from './time-limit.js';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;
const fired = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

describe('a time limit', () => {
  it('fires with a TimeoutError when the time has passed', async () => {
    const limit = timeLimit(1, new AbortController().signal, undefined);
    expect(limit.hasPassed()).toBe(false);
    expect(await fired(limit.signal)).toMatchObject({ name: 'TimeoutError' });
    expect(limit.hasPassed()).toBe(true);
  });

  it.each([0, -5, Number.NaN])('of %s ms fires at once, but not before a caller can listen', async (ms) => {
    const { signal } = timeLimit(ms);
    expect(signal.aborted).toBe(false);
    expect(await fired(signal)).toMatchObject({ name: 'TimeoutError' });
  });

  it('fires with the reason of the outer signal', () => {
    const outer = new AbortController();
    const limit = timeLimit(60_000, undefined, outer.signal);
    outer.abort(new Error('the worker stops'));
    expect(limit.signal.reason).toEqual(new Error('the worker stops'));
    expect(limit.hasPassed()).toBe(false);
  });

  it('has fired if the outer signal fired before', () => {
    const limit = timeLimit(60_000, AbortSignal.abort('earlier'));
    expect(limit.signal.reason).toBe('earlier');
    expect(limit.hasPassed()).toBe(false);
  });

  it('does not fire after it was stopped', () => {
    jest.useFakeTimers();
    try {
      const outer = new AbortController();
      const limit = timeLimit(1_000, outer.signal);
      limit.stop();
      jest.advanceTimersByTime(2_000);
      outer.abort();
      expect(limit.signal.aborted).toBe(false);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('can be longer than a timer of Node, which would fire at once', () => {
    jest.useFakeTimers();
    try {
      const days = 24 * 3_600_000;
      const limit = timeLimit(60 * days);
      jest.advanceTimersByTime(60 * days - 1);
      expect(limit.signal.aborted).toBe(false);
      jest.advanceTimersByTime(1);
      expect(limit.hasPassed()).toBe(true);
      timeLimit(Infinity);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('leaves no listener and no timer when it was stopped, has passed, or followed another signal', async () => {
    jest.useFakeTimers();
    try {
      const outer = new AbortController();
      for (let call = 0; call < 1_000; call += 1) timeLimit(1_000, outer.signal).stop();
      expect(listeners(outer.signal)).toBe(0);
      for (let call = 0; call < 1_000; call += 1) timeLimit(1_000, outer.signal);
      jest.advanceTimersByTime(1_000);
      expect(listeners(outer.signal)).toBe(0);
      for (let call = 0; call < 1_000; call += 1) timeLimit(1_000, outer.signal);
      outer.abort();
      expect(listeners(outer.signal)).toBe(0);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('joined signals', () => {
  it('fire with the reason of the first and leave no listener', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const joined = joinSignals(one.signal, undefined, other.signal);
    other.abort('left');
    one.abort('stopped');
    expect(joined.signal.reason).toBe('left');
    expect(listeners(one.signal) + listeners(other.signal)).toBe(0);
  });

  it('release their sources when they are stopped', () => {
    const one = new AbortController();
    joinSignals(one.signal).stop();
    expect(listeners(one.signal)).toBe(0);
  });
});

describe('work within a time', () => {
  it.each(['a value', 'an error'])('releases the outer signal after %s', async (outcome) => {
    const outer = new AbortController();
    const work = withinTime(60_000, outer.signal, async () => {
      expect(listeners(outer.signal)).toBe(1);
      if (outcome === 'an error') throw new Error('failed');
      return 'done';
    });
    await expect(work.catch((error: Error) => error.message)).resolves.toBe(outcome === 'an error' ? 'failed' : 'done');
    expect(listeners(outer.signal)).toBe(0);
  });
});

describe('in a process of its own', () => {
  const helper = ts.transpileModule(readFileSync(new URL('./time-limit.ts', import.meta.url), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  }).outputText;
  const asProcess = (text: string) => ['--expose-gc', '--input-type=module', '-e', `${helper}\n${text}`];

  /** Nothing but the server holds the signal, as in an HTTP request, while the collector runs all the time. */
  const WAIT = `
    const { createServer, get } = await import('node:http');
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const collect = setInterval(() => globalThis.gc(), 5);
    const outer = new AbortController();
    const asked = (signal) => get({ port: server.address().port, host: '127.0.0.1', agent: false, signal });
    const failure = new Promise((resolve) => asked(limitOf(outer.signal)).once('error', resolve));
    setTimeout(() => { console.log('never'); process.exit(0); }, 20_000);
    console.log((await failure).cause?.name);
    process.exit(0);
  `;

  it.each([
    ['timeLimit', 'const limitOf = (outer) => timeLimit(200, outer).signal;'],
    ['joinSignals', 'const limitOf = (outer) => joinSignals(outer, timeLimit(200).signal).signal;'],
  ])('%s fires although the garbage collector runs', (_name, limitOf) => {
    const output = execFileSync(process.execPath, asProcess(limitOf + WAIT), { encoding: 'utf8' });
    expect(output).toBe('TimeoutError\n');
  });

  it('a limit keeps no process alive', () => {
    const { status, error } = spawnSync(process.execPath, asProcess('timeLimit(600_000, undefined);'), {
      timeout: 30_000,
    });
    expect({ status, error }).toEqual({ status: 0, error: undefined });
  });
});

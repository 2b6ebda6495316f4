import { afterEach, expect, it, jest } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { DEFAULT_SETTINGS } from '../settings.js';
import { Backend, type BackendSpec } from './backend.js';
import type { Instance } from './instance.js';

const closed: string[] = [];
const dispatcher = (name: string) =>
  ({
    dispatch: jest.fn(),
    close: async () => void closed.push(name),
    destroy: async () => undefined,
  }) as unknown as Dispatcher;

function specWith(ids: readonly string[], draining: readonly string[] = []): BackendSpec {
  return {
    id: 'rev',
    tenantId: 'ten',
    revisionName: 'rev-1',
    modelId: 'm',
    authorization: null,
    guard: { allow: [] },
    instances: ids.map((id) => ({
      id,
      base_url: `http://${id}:80/v1/`,
      state: draining.includes(id) ? 'draining' : 'ready',
    })),
  };
}

let made = 0;
const backendOf = (ids: readonly string[]): Backend =>
  new Backend(specWith(ids), DEFAULT_SETTINGS, () => dispatcher(`d${(made += 1)}`));
const send = (instance: Instance): void => instance.dispatch({ path: '/', method: 'POST' }, {});

function fail(instance: Instance, times: number, now: number): void {
  for (let n = 0; n < times; n += 1) {
    send(instance);
    instance.settle('failed', now);
  }
}

function named(backend: Backend, id: string): Instance {
  const instance = backend.bound(id, 0);
  if (typeof instance === 'string') throw new Error(`${id} is not well`);
  return instance;
}

afterEach(() => {
  closed.length = 0;
});

it('chooses the least loaded, and shares among equals', () => {
  const backend = backendOf(['a', 'b', 'c']);
  const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
  for (let n = 0; n < 30; n += 1) {
    const instance = backend.leastLoaded(0) as Instance;
    counts[instance.id]! += 1;
    send(instance);
  }
  expect(counts).toEqual({ a: 10, b: 10, c: 10 });
  const first = new Set(Array.from({ length: 50 }, () => backend.leastLoaded(0)?.id));
  expect(first.size).toBe(3);
});

it('ejects after five failures in a row, tries one request later, and doubles the time when that fails', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  fail(a, 4, 0);
  a.answered();
  fail(a, 4, 0);
  expect(a.isEjected(0)).toBe(false);
  fail(a, 1, 0);
  expect([a.isEjected(999), a.isEjected(1_000)]).toEqual([true, false]);
  expect(Array.from({ length: 20 }, () => backend.leastLoaded(500)?.id)).toEqual(new Array(20).fill('b'));
  expect(backend.bound('a', 500)).toBe('target_unhealthy');

  send(a);
  expect(a.isEjected(1_000)).toBe(true);
  a.settle('failed', 1_000);
  expect([a.isEjected(2_999), a.isEjected(3_000)]).toEqual([true, false]);
  send(a);
  a.answered();
  expect(a.isEjected(3_000)).toBe(false);
  a.settle('fine', 3_000);
  fail(a, 5, 4_000);
  expect(a.isEjected(5_000)).toBe(false);
});

it('tries an ejected instance when there is no other, and prefers untried ones', () => {
  const backend = backendOf(['a', 'b']);
  const [a, b] = [named(backend, 'a'), named(backend, 'b')];
  expect(backend.leastLoaded(0, [a])).toBe(b);
  expect(backend.leastLoaded(0, [b, a])).toBeDefined();
  fail(a, 5, 0);
  fail(b, 5, 0);
  expect(backend.leastLoaded(0)).toBeDefined();
  expect(backend.isWell(0)).toBe(false);
});

it('keeps instances that stay over a change, drains those marked, lets those gone finish', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  backend.update(specWith(['a', 'c'], ['c']));
  expect(named(backend, 'a')).toBe(a);
  expect(closed).toHaveLength(1);
  expect(Array.from({ length: 20 }, () => backend.leastLoaded(0)?.id)).toEqual(new Array(20).fill('a'));
  expect(backend.bound('b', 0)).toBe('target_unhealthy');
  expect(backend.bound('c', 0)).toBe('target_unhealthy');
  backend.update(specWith([]));
  expect([backend.isServing, backend.leastLoaded(0)]).toEqual([false, undefined]);
});

it('takes a session off an instance that is far busier than another', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  for (let n = 0; n < 8; n += 1) send(a);
  expect(backend.bound('a', 0)).toBe('capacity');
  send(named(backend, 'b'));
  expect(backend.bound('a', 0)).toBe(a);
});

it('does not retry without end when everything fails', () => {
  const backend = backendOf(['a']);
  let retries = 0;
  for (let request = 0; request < 1_000; request += 1) {
    backend.enter();
    if (backend.takeRetry()) retries += 1;
    backend.leave();
  }
  expect(retries).toBeGreaterThan(290);
  expect(retries).toBeLessThan(330);
});

it('takes a base URL with or without /v1 for the same server', () => {
  expect(named(backendOf(['a']), 'a')).toMatchObject({ origin: 'http://a', prefix: '' });
});

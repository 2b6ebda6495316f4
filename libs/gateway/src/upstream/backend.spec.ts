import { createServer } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { afterEach, expect, it, jest } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { DEFAULT_SETTINGS } from '../settings.js';
import { UpstreamBackend, type BackendSpec, type BackendRequest } from './backend.js';
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
    deploymentId: 'dep',
    asleep: null,
    modelId: 'm',
    authorization: null,
    guard: { allow: [] },
    instances: ids.map((id) => ({
      id,
      base_url: `http://${id}:80/v1/`,
      state: draining.includes(id) ? 'draining' : 'ready',
      authorization: null,
    })),
  };
}

let made = 0;
const backendOf = (ids: readonly string[]): UpstreamBackend =>
  new UpstreamBackend(specWith(ids), DEFAULT_SETTINGS, () => dispatcher(`d${(made += 1)}`));
const guest: BackendRequest = { onInstanceLost: () => undefined, instance: undefined, silentMs: () => 0 };
const send = (instance: Instance): void => instance.dispatch({ path: '/', method: 'POST' }, {});

function fail(instance: Instance, times: number, now: number): void {
  for (let n = 0; n < times; n += 1) {
    send(instance);
    instance.settle('failed', now, 1);
  }
}

function named(backend: UpstreamBackend, id: string): Instance {
  const instance = backend.bound(id, 0);
  if (typeof instance === 'string') throw new Error(`${id} is not well`);
  return instance;
}

afterEach(() => {
  closed.length = 0;
});

it('chooses the least loaded instance, and spreads requests among equals', () => {
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

it('ejects after five failures in a row, sends one trial request later, and doubles the time when that fails', () => {
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
  a.settle('failed', 1_000, 1);
  expect([a.isEjected(2_999), a.isEjected(3_000)]).toEqual([true, false]);
  send(a);
  a.answered();
  expect(a.isEjected(3_000)).toBe(false);
  a.settle('fine', 3_000, 1);
  fail(a, 5, 4_000);
  expect(a.isEjected(5_000)).toBe(false);
});

it('counts errors of the engine itself as failures only once three callers got one since its last good answer', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  const report = (caller: number, times: number): void => {
    for (let n = 0; n < times; n += 1) {
      send(a);
      a.settle('engine_error', 0, caller);
    }
  };
  report(1, 100);
  report(2, 100);
  expect([a.isEjected(0), a.isFailing]).toEqual([false, false]);
  a.answered();
  report(3, 1);
  report(4, 1);
  expect(a.isEjected(0)).toBe(false);
  report(5, 1);
  expect([a.isEjected(0), a.isFailing]).toEqual([false, true]);
  report(3, 2);
  expect(a.isEjected(0)).toBe(true);
});

it('reports each fault once until the backend is published again', () => {
  const backend = backendOf(['a']);
  expect([backend.noteFault('credential'), backend.noteFault('credential'), backend.noteFault('redirect')]).toEqual([
    true,
    false,
    true,
  ]);
  backend.update(specWith(['a']));
  expect(backend.noteFault('credential')).toBe(true);
});

it('retries on an instance without failures, even if a failed one is idler', () => {
  const backend = backendOf(['a', 'b', 'c']);
  const [a, b, c] = [named(backend, 'a'), named(backend, 'b'), named(backend, 'c')];
  fail(b, 1, 0);
  send(c);
  expect(Array.from({ length: 20 }, () => backend.leastLoaded(0, [a]))).toEqual(new Array(20).fill(c));
  // A first attempt may use it: otherwise it would never recover.
  send(a);
  expect(backend.leastLoaded(0)).toBe(b);
});

it('sends one request to an ejected instance as a trial, and no other until that has ended', () => {
  const backend = backendOf(['a', 'b']);
  const [a, b] = [named(backend, 'a'), named(backend, 'b')];
  fail(a, 5, 0);
  send(b);
  expect(backend.leastLoaded(1_000)).toBe(a);
  send(a);
  expect(Array.from({ length: 20 }, () => backend.leastLoaded(1_000))).toEqual(new Array(20).fill(b));
  // The client left: this says nothing about the instance, so the next request is the trial.
  a.settle('fine', 1_000, 1);
  expect(backend.leastLoaded(1_000)).toBe(a);
});

it('doubles the time of an ejection up to thirty seconds, and a failure meanwhile adds nothing', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  fail(a, 5, 0);
  fail(a, 5, 500);
  expect([a.isEjected(999), a.isEjected(1_000)]).toEqual([true, false]);
  let now = 1_000;
  for (const seconds of [2, 4, 8, 16, 30, 30]) {
    fail(a, 1, now);
    expect([seconds, a.isEjected(now + seconds * 1_000 - 1), a.isEjected(now + seconds * 1_000)]).toEqual([
      seconds,
      true,
      false,
    ]);
    now += seconds * 1_000;
  }
});

it('counts the ejected instances', () => {
  const backend = backendOf(['a', 'b']);
  fail(named(backend, 'a'), 5, 0);
  expect([backend.ejectedCount(0), backend.ejectedCount(1_000), backend.isWell(0)]).toEqual([1, 0, true]);
});

it('uses an ejected instance if there is no other, and prefers untried ones', () => {
  const backend = backendOf(['a', 'b']);
  const [a, b] = [named(backend, 'a'), named(backend, 'b')];
  // However busy it is: a second attempt on the failed one is worth less.
  for (let n = 0; n < 3; n += 1) send(b);
  expect(backend.leastLoaded(0, [a])).toBe(b);
  expect(backend.leastLoaded(0, [b, a])).toBeDefined();
  fail(a, 5, 0);
  fail(b, 5, 0);
  expect(backend.leastLoaded(0)).toBeDefined();
  expect(backend.isWell(0)).toBe(false);
});

it('leaves a session on an ejected instance if all are ejected', () => {
  const backend = backendOf(['a']);
  const a = named(backend, 'a');
  fail(a, 5, 0);
  expect(backend.bound('a', 0)).toBe(a);
});

it('keeps instances that stay over a change, drains those marked, and lets removed ones finish', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  backend.update(specWith(['a', 'c'], ['c']));
  expect(named(backend, 'a')).toBe(a);
  expect(closed).toHaveLength(1);
  expect(Array.from({ length: 20 }, () => backend.leastLoaded(0)?.id)).toEqual(new Array(20).fill('a'));
  expect(backend.bound('b', 0)).toBe('target_unhealthy');
  expect(backend.bound('c', 0)).toBe('target_unhealthy');
  expect([backend.isServing, backend.isWell(0)]).toEqual([true, true]);
  backend.update(specWith(['a', 'c'], ['a', 'c']));
  expect([backend.isServing, backend.isWell(0), backend.leastLoaded(0)]).toEqual([false, false, undefined]);
  backend.update(specWith(['a', 'c'], ['c']));
  expect(backend.leastLoaded(0)).toBe(a);
  backend.update(specWith([]));
  expect([backend.isServing, backend.leastLoaded(0)]).toEqual([false, undefined]);
});

it('counts silent requests of instances that take no new ones, and no others', () => {
  const backend = backendOf(['a', 'b', 'c']);
  const [a, b, c] = ['a', 'b', 'c'].map((id) => named(backend, id)) as [Instance, Instance, Instance];
  const request = (instance: Instance | undefined, heardAt: number): BackendRequest => ({
    onInstanceLost: () => undefined,
    instance,
    silentMs: (now) => now - heardAt,
  });
  for (const instance of [a, a, a, b, c]) send(instance);
  for (const one of [request(a, 0), request(a, 1), request(a, 0), request(b, 0), request(c, 0), request(undefined, 0)])
    backend.enter(one);
  expect(backend.silentByInstance(60_000)).toEqual({});
  // `a` is removed, `b` is marked, and `c` stays.
  backend.update(specWith(['b', 'c'], ['b']));
  const { silentAfterMs } = DEFAULT_SETTINGS;
  expect(silentAfterMs).toBe(30_000);
  expect(backend.silentByInstance(silentAfterMs - 1)).toEqual({});
  expect(backend.silentByInstance(silentAfterMs)).toEqual({ a: 2, b: 1 });
  expect(backend.silentByInstance(silentAfterMs + 1)).toEqual({ a: 3, b: 1 });
});

it('reconnects if the address of an instance, or its allow list, has changed', () => {
  const backend = backendOf(['a']);
  const before = named(backend, 'a');
  const moved = specWith(['a']);
  moved.instances[0]!.base_url = 'http://elsewhere';
  backend.update(moved);
  const after = named(backend, 'a');
  expect([after === before, after.origin]).toEqual([false, 'http://elsewhere']);
  backend.update({ ...moved, guard: { allow: ['http://elsewhere'] } });
  expect(named(backend, 'a')).not.toBe(after);
  expect(closed).toHaveLength(2);
});

it('moves a session off an instance that is far busier than another', () => {
  const backend = backendOf(['a', 'b']);
  const a = named(backend, 'a');
  for (let n = 0; n < 8; n += 1) send(a);
  expect(backend.bound('a', 0)).toBe('capacity');
  // Eight more than twice as many is far busier; one less is not.
  send(named(backend, 'b'));
  expect(backend.bound('a', 0)).toBe(a);
  send(a);
  expect(backend.bound('a', 0)).toBe(a);
  send(a);
  expect(backend.bound('a', 0)).toBe('capacity');
});

it('saves at most fifty retries while nothing fails', () => {
  const backend = backendOf(['a']);
  for (let request = 0; request < 1_000; request += 1) {
    backend.enter(guest);
    backend.leave(guest);
  }
  let retries = 0;
  while (backend.takeRetry()) retries += 1;
  expect([retries, backend.inFlight]).toEqual([50, 0]);
});

it('does not retry endlessly when everything fails', () => {
  const backend = backendOf(['a']);
  let retries = 0;
  for (let request = 0; request < 1_000; request += 1) {
    backend.enter(guest);
    if (backend.takeRetry()) retries += 1;
    backend.leave(guest);
  }
  expect(retries).toBeGreaterThan(290);
  expect(retries).toBeLessThan(330);
});

it.each([
  ['http://h', undefined, '/v1/embeddings'],
  ['http://h:80/v1/', undefined, '/v1/embeddings'],
  ['http://h/v1beta/openai/', undefined, '/v1beta/openai/embeddings'],
  ['http://h/llm', '/api/v3', '/llm/api/v3/embeddings'],
  ['http://h', '/', '/embeddings'],
])('sends a request for an instance at %s with the API path %s to %s', (base_url, api_path, expected) => {
  const spec = specWith(['a']);
  const instances = [{ ...spec.instances[0]!, base_url, ...(api_path && { api_path }) }];
  const backend = new UpstreamBackend({ ...spec, instances }, DEFAULT_SETTINGS, () => dispatcher('d'));
  expect(named(backend, 'a').pathOf('/v1/embeddings')).toBe(expected);
});

it('an instance starts for a minute and for 100 requests, unless the gateway found it running', () => {
  const { instances } = specWith(['old', 'new']);
  const backend = new UpstreamBackend({ ...specWith([]), instances: instances.slice(0, 1) }, DEFAULT_SETTINGS, () =>
    dispatcher('d'),
  );
  backend.update({ ...backend.spec, instances }, true);
  const [old, young] = ['old', 'new'].map((id) => named(backend, id)) as [Instance, Instance];
  const now = performance.now();
  expect([old.isStarting(now), young.isStarting(now)]).toEqual([false, true]);
  // Long ago, but few requests.
  expect(young.isStarting(now + 3_600_000)).toBe(true);
  for (let n = 0; n < 99; n += 1) send(young);
  expect(young.isStarting(now + 61_000)).toBe(true);
  send(young);
  expect([young.isStarting(now + 61_000), young.isStarting(now + 50_000)]).toEqual([false, true]);
});

it('an instance that stays does not start again when other instances or the guard change', () => {
  const { instances } = specWith(['a', 'b']);
  const backend = new UpstreamBackend({ ...specWith(['a']) }, DEFAULT_SETTINGS, () => dispatcher('d'));
  backend.update({ ...backend.spec, instances }, true);
  backend.update({ ...backend.spec, guard: { allow: ['https://a.example'] } }, true);
  const now = performance.now();
  expect(named(backend, 'a').isStarting(now)).toBe(false);
  // Its address is another one now: another process.
  const moved = instances.map((one) => (one.id === 'a' ? { ...one, base_url: 'http://other:80/v1/' } : one));
  backend.update({ ...backend.spec, instances: moved }, true);
  expect(named(backend, 'a').isStarting(now)).toBe(true);
});

it('notices an engine that disappears: each connection asks an idle one after 15 s', async () => {
  const asks = jest.spyOn(Socket.prototype, 'setKeepAlive');
  const engine = createServer((_request, response) => response.end());
  await new Promise<void>((done) => engine.listen(0, '127.0.0.1', done));
  const { port } = engine.address() as AddressInfo;
  const instances: BackendSpec['instances'] = [
    { id: 'a', base_url: `http://127.0.0.1:${port}/v1/`, state: 'ready', authorization: null },
  ];
  const backend = new UpstreamBackend({ ...specWith([]), guard: null, instances }, DEFAULT_SETTINGS, () =>
    dispatcher('d'),
  );
  await new Promise<void>((done, fail) =>
    named(backend, 'a').dispatch(
      { path: '/', method: 'GET' },
      { onResponseEnd: () => done(), onResponseError: (_controller, error) => fail(error) },
    ),
  );
  expect(asks.mock.calls).toEqual([[true, 15_000]]);
  asks.mockRestore();
  engine.closeAllConnections();
  await new Promise((done) => engine.close(done));
});

it('only the server of a supplier may be called through the proxy of the operator', () => {
  const seen: (boolean | undefined)[] = [];
  const backendOfKind = (revisionName: string | null) =>
    new UpstreamBackend({ ...specWith(['a']), revisionName }, DEFAULT_SETTINGS, (_allow, { isSupplier }) => {
      seen.push(isSupplier);
      return dispatcher('d');
    });
  backendOfKind('chat-1');
  backendOfKind(null);
  expect(seen).toEqual([false, true]);
});

type State = BackendSpec['instances'][number]['state'];

/** A backend of instances in these states. Its probes get the answer that `alive` has for the instance. */
async function doubted(
  states: Record<string, State>,
  alive: Record<string, number | 'hangs'>,
): Promise<UpstreamBackend> {
  const spec = specWith([]);
  spec.instances = Object.entries(states).map(([id, state]) => ({
    ...{ id, base_url: `http://${id}:80/v1/`, state },
    authorization: null,
  }));
  const backend = new UpstreamBackend(spec, DEFAULT_SETTINGS, (allow) => {
    const probed = dispatcher('probed');
    probed.request = (async ({ origin, path }: Dispatcher.RequestOptions & { origin: string }) => {
      expect([allow, path]).toEqual([[], '/v1/models']);
      const status = alive[new URL(origin).hostname] ?? 'hangs';
      if (status === 'hangs') throw new Error('no answer');
      return { statusCode: status, body: { dump: async () => undefined } };
    }) as unknown as Dispatcher['request'];
    return probed;
  });
  // Two misses follow each other without a pause.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return backend;
}

const used = (backend: UpstreamBackend): string[] =>
  [...new Set(Array.from({ length: 40 }, () => backend.leastLoaded(0)?.id ?? 'none'))].sort();

it.each<[string, Record<string, State>, Record<string, number | 'hangs'>, string[]]>([
  ['a doubted instance that answers serves', { a: 'ready', b: 'doubted' }, { b: 200 }, ['a', 'b']],
  [
    'a doubted instance that refuses without its key has answered',
    { a: 'ready', b: 'doubted' },
    { b: 401 },
    ['a', 'b'],
  ],
  ['a doubted instance without an answer is not used', { a: 'ready', b: 'doubted' }, { b: 'hangs' }, ['a']],
  ['nor one whose proxy answers for it', { a: 'ready', b: 'doubted' }, { b: 502 }, ['a']],
  ['all doubted at once, and all answer', { a: 'doubted', b: 'doubted' }, { a: 200, b: 200 }, ['a', 'b']],
  ['all doubted, and one answers', { a: 'doubted', b: 'doubted' }, { b: 200 }, ['b']],
  ['a lost one is not asked', { a: 'ready', b: 'lost' }, { b: 200 }, ['a']],
  ['the last one is lost', { a: 'lost' }, { a: 200 }, ['none']],
  ['an ending one is not used while another serves', { a: 'ready', b: 'ending' }, { b: 200 }, ['a']],
  ['the last one is ending', { b: 'ending' }, { b: 200 }, ['b']],
  ['the last one is ending, and has ended', { b: 'ending' }, { b: 'hangs' }, ['none']],
  ['one of two misses the probes of the worker', { a: 'ready', b: 'unhealthy' }, { b: 200 }, ['a']],
  ['the last one misses them, and answers', { a: 'unhealthy' }, { a: 200 }, ['a']],
  ['the last one misses them, and those of the gateway', { a: 'unhealthy' }, { a: 'hangs' }, ['none']],
  [
    'most of them miss the probes of the worker at once, and answer',
    { a: 'ready', b: 'unhealthy', c: 'unhealthy' },
    { b: 200, c: 200 },
    ['a', 'b', 'c'],
  ],
])('by its own evidence: %s', async (_case, states, alive, expected) => {
  const backend = await doubted(states, alive);
  expect(used(backend)).toEqual(expected);
  expect(backend.isServing).toBe(expected[0] !== 'none');
  await backend.destroy();
});

it('a retry uses a reserve before an instance on which the request has failed', async () => {
  const backend = await doubted({ a: 'ready', b: 'ending' }, { b: 200 });
  const a = named(backend, 'a');
  expect(backend.leastLoaded(0)).toBe(a);
  expect(backend.leastLoaded(0, [a])?.id).toBe('b');
  expect([backend.hasOther(0, [a]), backend.hasSoundOne(0, [a])]).toEqual([true, true]);
  fail(a, 5, 0);
  expect(backend.leastLoaded(0)?.id).toBe('b');
  await backend.destroy();
});

it('a session stays with the replacement of an instance, not with its former address', async () => {
  const backend = await doubted({ a: 'ready' }, {});
  const spec = specWith(['a']);
  spec.instances = [...spec.instances, { ...spec.instances[0]!, base_url: 'http://old:80/v1/', state: 'ending' }];
  backend.update(spec);
  expect((backend.bound('a', 0) as Instance).origin).toBe('http://a');
  expect(backend.size).toBe(1);
  await backend.destroy();
});

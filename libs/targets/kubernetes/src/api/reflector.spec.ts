import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startStubApi, type Oddity, type StubApi } from '../../test/stub-api/index.js';
import { ApiError } from './errors.js';
import { PODS } from './kinds.js';
import type { Pod } from './objects.js';
import { Reflector, type ReflectorClock } from './reflector.js';
import { KubeApi } from './requests.js';

const NS = 'models';
const QUICK: Partial<ReflectorClock> = { shorterRetries: 50, shortestWatchMs: 100 };

let stub: StubApi;
let api: KubeApi;
let reflector: Reflector<Pod>;
let changes: string[];
let troubles: unknown[];

const put = (name: string, phase = 'Pending', labels: Record<string, string> = { ours: 'yes' }): Pod =>
  stub.store.put<Pod>(PODS, { metadata: { name, namespace: NS, labels }, status: { phase } });
const remove = (name: string): void => stub.store.remove(PODS, NS, name);
const requestsOf = (verb: string) => stub.requests.filter((one) => one.verb === verb);
const lists = (): number => requestsOf('list').filter(({ query }) => query.limit === '500').length;

async function until(isSo: () => boolean, withinMs = 20_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${isSo}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

const shown = (): Record<string, string | undefined> =>
  Object.fromEntries([...reflector.values()].map((pod) => [pod.metadata.name, pod.status?.phase]));
const watching = (): Promise<void> => until(() => stub.sockets.watches === 1 && reflector.isSynced);
const showsAll = (): Promise<void> =>
  until(() => {
    const ours = stub.store.list<Pod>(PODS, NS).filter(({ metadata }) => metadata.labels?.ours === 'yes');
    const there = ours.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`);
    const seen = [...reflector.values()].map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`);
    return JSON.stringify(there.sort()) === JSON.stringify(seen.sort());
  });

function reflect(clock: Partial<ReflectorClock> = {}): void {
  changes = [];
  troubles = [];
  reflector = new Reflector<Pod>(api, {
    kind: PODS,
    namespace: NS,
    labelSelector: 'ours=yes',
    onChange: (before, after) => changes.push(`${before?.status?.phase ?? '-'} ${after?.status?.phase ?? '-'}`),
    onTrouble: (error) => troubles.push(error),
    clock: { ...QUICK, ...clock },
  });
}

beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster(), { callTimeoutMs: 1_000, shorterPauses: 50 });
  reflect();
});
afterEach(async () => {
  await reflector.close();
  await api.close();
  await stub.close();
});

describe('a list and its watch', () => {
  it('show the objects and each change of them, by name and uid', async () => {
    put('a');
    put('foreign', 'Pending', { ours: 'no' });
    expect([reflector.isSynced, reflector.lastHeardAt]).toEqual([false, 0]);
    reflector.start();
    reflector.start();
    await watching();
    const b = put('b');
    put('a', 'Running');
    put('b', 'Pending', { ours: 'no' });
    remove('a');
    const c = put('c');
    await until(() => reflector.get('c') !== undefined);
    expect(shown()).toEqual({ c: 'Pending' });
    expect(changes).toEqual(['- Pending', '- Pending', 'Pending Running', 'Pending -', 'Running -', '- Pending']);
    expect(reflector.byUid(c.metadata.uid!)?.metadata.name).toBe('c');
    expect(reflector.byUid(b.metadata.uid!)).toBeUndefined();
    expect(reflector.get('c')?.metadata.managedFields).toBeUndefined();
    expect(Date.now() - reflector.lastHeardAt).toBeLessThan(5_000);
    expect([lists(), requestsOf('watch').length, troubles]).toEqual([1, 1, []]);
    const { query } = requestsOf('watch')[0]!;
    expect(query).toMatchObject({ allowWatchBookmarks: 'true', labelSelector: 'ours=yes' });
    expect(Number(query.timeoutSeconds)).toBeGreaterThanOrEqual(540);
    expect(Number(query.timeoutSeconds)).toBeLessThanOrEqual(660);
  });

  it('read an event in pieces of any size, and refuse an endless one', async () => {
    reflector.start();
    await watching();
    const version = Number(stub.store.version) + 5;
    const metadata = { name: 'ünits-🚢', uid: 'u', resourceVersion: String(version) };
    const bytes = Buffer.from(
      `${JSON.stringify({ type: 'ADDED', object: { metadata, status: { phase: 'ü🚢' } } })}\n\n`,
    );
    for (let at = 0; at < bytes.length; at += 3) {
      stub.inject(bytes.subarray(at, at + 3));
      if (at % 30 === 0) await new Promise((done) => setTimeout(done, 1));
    }
    await until(() => reflector.get('ünits-🚢') !== undefined);
    expect(shown()).toEqual({ 'ünits-🚢': 'ü🚢' });
    for (let n = 0; n < 9; n += 1) stub.inject('x'.repeat(1024 * 1024));
    await until(() => troubles.length > 0);
    expect(String(troubles[0])).toContain('an event longer than 8388608 bytes');
    await showsAll();
  });

  it('continue at once without a list when the watch ends at its time', async () => {
    put('a');
    reflect({ watchSeconds: 1 });
    reflector.start();
    await until(() => requestsOf('watch').length >= 3);
    put('b');
    await showsAll();
    expect([lists(), requestsOf('list').length, troubles]).toEqual([1, 1, []]);
  });

  it('continue after a cut from the last version, and one cut is not reported as trouble', async () => {
    put('a');
    reflector.start();
    await watching();
    put('b');
    await until(() => reflector.get('b') !== undefined);
    stub.cutWatches();
    put('c');
    remove('a');
    await showsAll();
    expect([lists(), troubles]).toEqual([1, []]);
    expect(requestsOf('watch')).toHaveLength(2);
  });

  it('continue from a bookmark after the server has forgotten the past', async () => {
    put('a');
    reflector.start();
    await watching();
    put('foreign', 'Pending', { ours: 'no' });
    stub.bookmark();
    await until(() => requestsOf('watch').length === 1 && changes.length === 1);
    stub.compact();
    await new Promise((done) => setTimeout(done, 30));
    stub.cutWatches();
    await until(() => requestsOf('watch').length === 2 && stub.sockets.watches === 1);
    put('b');
    await showsAll();
    expect([lists(), reflector.isSynced]).toEqual([1, true]);
  });
});

describe('a 410 answer', () => {
  it.each(['status', 'event'] as const)(
    'as %s leads to a new list, and listeners receive what was deleted meanwhile',
    async (form) => {
      put('a');
      put('b');
      reflector.start();
      await watching();
      changes.length = 0;
      stub.cutWatches();
      remove('a');
      remove('b');
      put('b', 'Running');
      put('c');
      stub.compact(form);
      await showsAll();
      await watching();
      expect(changes.sort()).toEqual(['- Pending', '- Running', 'Pending -', 'Pending -']);
      expect([lists(), troubles]).toEqual([2, []]);
    },
  );

  it('in the middle of the watch leads to a new list', async () => {
    put('a');
    reflector.start();
    await watching();
    stub.failWatches();
    await until(() => lists() === 2);
    await watching();
    put('b');
    await showsAll();
    expect(troubles).toEqual([]);
  });

  describe('between two pages of a list', () => {
    const PAGES_OF_TWO = Array.from({ length: 501 }, (_, n) => `p${n}`);
    /** Applies to the second page of the next list; the first one is unchanged. */
    const secondPage = (oddity: Oddity): void => {
      stub.odd({ verb: 'list' }, { slowMs: 0 }, 1);
      stub.odd({ verb: 'list' }, oddity, 1);
    };
    const begun = (): number => requestsOf('list').filter(({ query }) => query.continue === undefined).length;

    it('starts the list again: objects deleted meanwhile are never shown, and new ones are', async () => {
      for (const name of PAGES_OF_TWO) put(name);
      let compacted!: () => void;
      secondPage({ until: new Promise<void>((done) => (compacted = done)) });
      reflector.start();
      await until(() => requestsOf('list').length === 2);
      remove('p0');
      put('p1', 'Running');
      put('late');
      stub.compact();
      compacted();
      await showsAll();
      await watching();
      expect(requestsOf('list').map(({ query }) => query.continue === undefined)).toEqual([true, false, true, false]);
      expect([changes.length, shown().p0, troubles]).toEqual([501, undefined, []]);
    });

    it('with a token for the current rest starts the list again, because halves of two moments make no list', async () => {
      for (const name of PAGES_OF_TWO) put(name);
      const metadata = { continue: 'the rest' };
      const status = { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', metadata };
      secondPage({ code: 410, body: JSON.stringify(status) });
      reflector.start();
      await showsAll();
      expect(requestsOf('list').map(({ query }) => query.continue === undefined)).toEqual([true, false, true, false]);
      expect(requestsOf('list').map(({ query }) => query.continue)).not.toContain('the rest');
      expect(troubles).toEqual([]);
    });

    it('repeatedly is reported as trouble, slows the tries down, and shows no part of a list', async () => {
      reflect({ shorterRetries: 20 });
      for (const name of PAGES_OF_TWO) put(name);
      for (let time = 0; time < 15; time += 1) secondPage({ status: 410 });
      reflector.start();
      await until(() => troubles.length > 0);
      expect([shown(), reflector.isSynced]).toEqual([{}, false]);
      await until(() => troubles.at(-1) === null);
      await showsAll();
      // Each try lists three times, and the first try is not trouble yet.
      expect([begun(), troubles.length]).toEqual([15 + 1, 15 / 3 - 1 + 1]);
      expect(changes).toHaveLength(501);
    });
  });

  it('repeatedly is reported as trouble, and slows the tries down', async () => {
    reflect({ shorterRetries: 5 });
    const stop = stub.odd({ verb: 'watch' }, { status: 410 });
    reflector.start();
    const second = new Promise((done) => setTimeout(done, 1_000));
    await until(() => lists() >= 3);
    await second;
    expect(lists()).toBeLessThan(8);
    expect(troubles.length).toBeGreaterThan(0);
    // Between a list and the refusal of its watch it is synced for a moment.
    await until(() => !reflector.isSynced);
    stop();
    await until(() => troubles.at(-1) === null);
  });
});

describe('a server in trouble', () => {
  it('that forbids to watch is reported with the verb, and is watched again when it allows it', async () => {
    const allow = stub.forbid({ verb: 'watch', plural: 'pods' });
    reflector.start();
    await until(() => troubles.length >= 2);
    expect(troubles[0]).toBeInstanceOf(ApiError);
    expect(troubles[0]).toMatchObject({ status: 403, call: { verb: 'watch', resource: 'pods', namespace: NS } });
    expect(lists()).toBe(1);
    allow();
    await until(() => troubles.at(-1) === null);
    put('a');
    await showsAll();
  });

  it('that forbids to list is not synced', async () => {
    const allow = stub.forbid({ verb: 'list' });
    reflector.start();
    await until(() => troubles.length >= 1);
    expect(reflector.isSynced).toBe(false);
    allow();
    await watching();
  });

  it('that is away leaves the known objects as they are, and is watched again when it returns', async () => {
    put('a');
    reflector.start();
    await watching();
    const port = Number(new URL(stub.url).port);
    const heardAt = reflector.lastHeardAt;
    await stub.close();
    await until(() => troubles.length >= 2);
    expect(troubles[0]).toMatchObject({ code: 'ECONNREFUSED' });
    expect([shown(), reflector.isSynced]).toEqual([{ a: 'Pending' }, true]);
    expect(reflector.lastHeardAt - heardAt).toBeLessThan(100);
    stub = await startStubApi({ port });
    put('b');
    await showsAll();
    expect(shown()).toEqual({ b: 'Pending' });
    await until(() => troubles.at(-1) === null);
  });

  it('that has lost everything is accepted with other objects of the same names', async () => {
    put('a', 'Running');
    for (let n = 0; n < 20; n += 1) put('b', String(n));
    reflector.start();
    await watching();
    stub.wipe();
    put('a', 'Pending');
    await showsAll();
    expect(shown()).toEqual({ a: 'Pending' });
  });

  it('that started from nothing and has passed our version is detected by an object that we do not know', async () => {
    put('a');
    reflector.start();
    await watching();
    const version = Number(stub.store.version);
    stub.wipe();
    put('a');
    while (Number(stub.store.version) <= version + 10) put('foreign', stub.store.version, { ours: 'no' });
    await showsAll();
  });

  it('that was restored to an older state is detected by its version', async () => {
    put('a');
    reflector.start();
    await watching();
    const ahead = { type: 'BOOKMARK', object: { metadata: { resourceVersion: `${stub.store.version}0` } } };
    stub.inject(`${JSON.stringify(ahead)}\n`);
    await new Promise((done) => setTimeout(done, 50));
    stub.cutWatches();
    await until(() => lists() === 2);
    put('b');
    await showsAll();
  });

  it('that sends something now and then does not count as silent', async () => {
    reflect({ silenceMs: 200 });
    reflector.start();
    await watching();
    for (let n = 0; n < 20; n += 1) {
      stub.bookmark();
      await new Promise((done) => setTimeout(done, 25));
    }
    expect(requestsOf('watch')).toHaveLength(1);
  });

  it('that falls silent with open connections is disconnected after a while', async () => {
    reflect({ silenceMs: 150 });
    put('a');
    reflector.start();
    await watching();
    stub.freezeWatches();
    put('b');
    await showsAll();
    expect(lists()).toBe(1);
    expect(troubles).toEqual([]);
    await until(() => stub.sockets.watches === 1);
  });

  it('that sends garbage, 429 or 500 gets another watch, and a new list after the third failure', async () => {
    put('a');
    reflector.start();
    await watching();
    stub.inject('{"type":"ADDED","object":{}}\n');
    await until(() => requestsOf('watch').length === 2 && stub.sockets.watches === 1);
    expect(lists()).toBe(1);
    for (const oddity of [{ status: 500 }, { status: 503 }, { body: 'garbage\n' }])
      stub.odd({ verb: 'watch' }, oddity, 1);
    stub.cutWatches();
    put('b');
    await showsAll();
    await watching();
    expect(lists()).toBe(2);
    stub.odd({ verb: 'watch' }, { status: 429 }, 1);
    stub.cutWatches();
    put('c');
    await showsAll();
    await until(() => troubles.at(-1) === null);
  });

  it('that has not reached our version is listed again', async () => {
    reflector.start();
    await watching();
    const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
    stub.odd({ verb: 'watch' }, { status: 504, reason: 'Timeout', details }, 1);
    stub.cutWatches();
    await until(() => lists() === 2);
    await watching();
  });

  it('that ends each watch at once gets no requests in a loop', async () => {
    reflect({ shorterRetries: 5, shortestWatchMs: 1_000 });
    stub.odd({ verb: 'watch' }, { body: '' });
    reflector.start();
    const second = new Promise((done) => setTimeout(done, 1_000));
    await until(() => requestsOf('watch').length > 1);
    await second;
    expect(requestsOf('watch').length).toBeLessThan(10);
  });

  it('that sends stale objects changes nothing', async () => {
    const old = put('a');
    put('b');
    reflector.start();
    await watching();
    put('a', 'Running');
    remove('b');
    await showsAll();
    changes.length = 0;
    stub.replay(PODS, 'MODIFIED', old);
    stub.replay(PODS, 'ADDED', { ...old, metadata: { ...old.metadata, name: 'b', uid: 'ghost' } });
    stub.replay(PODS, 'DELETED', old);
    put('c');
    await until(() => reflector.get('c') !== undefined);
    await showsAll();
    expect(changes).toEqual(['- Pending']);
  });

  it('that is slow to list gets no more time than a call may take', async () => {
    stub.odd({ verb: 'list' }, { silent: true }, 1);
    reflector.start();
    await until(() => troubles.length === 1);
    expect(troubles[0]).toMatchObject({ code: 'TIMEOUT' });
    await watching();
  });
});

describe('an object that we wrote', () => {
  /** A new pod of the server, which the watch has not reported yet. */
  const written = (name: string, above: number, phase = 'Ours'): Pod => ({
    metadata: { name, namespace: NS, uid: `uid-${name}`, resourceVersion: String(Number(stub.store.version) + above) },
    status: { phase },
  });
  const tell = (type: string, object: Pod): void => stub.inject(`${JSON.stringify({ type, object })}\n`);

  beforeEach(async () => {
    reflector.start();
    await watching();
  });

  it('is shown at once, and reported once', async () => {
    const pod = written('a', 5);
    reflector.remember(pod);
    expect([shown(), changes]).toEqual([{ a: 'Ours' }, ['- Ours']]);
    tell('ADDED', pod);
    tell('BOOKMARK', { metadata: { resourceVersion: pod.metadata.resourceVersion } } as Pod);
    tell('ADDED', written('b', 6, 'Other'));
    await until(() => reflector.get('b') !== undefined);
    expect(changes).toEqual(['- Ours', '- Other']);
    expect(shown()).toEqual({ a: 'Ours', b: 'Other' });
  });

  it('is not reverted by older events, and is replaced by newer ones', async () => {
    reflector.remember(written('a', 5));
    tell('ADDED', written('a', 2, 'Older'));
    tell('DELETED', written('a', 3, 'Older'));
    tell('ADDED', written('b', 4, 'Other'));
    await until(() => reflector.get('b') !== undefined);
    expect(shown().a).toBe('Ours');
    tell('MODIFIED', written('a', 6, 'Newer'));
    await until(() => shown().a === 'Newer');
    reflector.remember(written('a', 5));
    expect(shown().a).toBe('Newer');
  });

  it('is removed when the watch has passed its version without showing it', async () => {
    reflector.remember(written('a', 5));
    tell('BOOKMARK', { metadata: { resourceVersion: written('a', 4).metadata.resourceVersion } } as Pod);
    tell('ADDED', written('b', 6, 'Other'));
    await until(() => reflector.get('b') !== undefined);
    expect(shown()).toEqual({ b: 'Other' });
    expect(changes).toEqual(['- Ours', '- Other', 'Ours -']);
  });

  it('and that the watch has already reported as deleted is not shown again', async () => {
    const pod = put('a');
    remove('a');
    await until(() => changes.length === 2);
    reflector.remember(pod);
    expect(shown()).toEqual({});
  });

  it('during a list survives that list, and the next list decides', async () => {
    stub.odd({ verb: 'list' }, { slowMs: 100 }, 1);
    stub.failWatches();
    await until(() => lists() === 2);
    reflector.remember(written('a', 3));
    await until(() => stub.sockets.watches === 1 && reflector.isSynced);
    expect(shown()).toEqual({ a: 'Ours' });
    stub.failWatches();
    await until(() => lists() === 3 && stub.sockets.watches === 1);
    expect(shown()).toEqual({});
  });
});

it('a listener that throws does not stop the reflector', async () => {
  const seen: unknown[] = [];
  const failing = new Reflector<Pod>(api, {
    kind: PODS,
    namespace: NS,
    onChange: (_before, after) => {
      seen.push(after?.metadata.name);
      throw new Error('not ours');
    },
    onTrouble: (error) => {
      troubles.push(error);
      throw new Error('nor this');
    },
    clock: QUICK,
  });
  failing.start();
  try {
    put('a');
    await until(() => seen.length === 1);
    put('b');
    await until(() => seen.length === 2);
    expect(troubles.filter((one) => one !== null)).toHaveLength(2);
    expect([...failing.values()]).toHaveLength(2);
  } finally {
    await failing.close();
  }
});

it('close ends the watch and every pause, and leaves no connection of its own', async () => {
  reflector.start();
  await watching();
  await reflector.close();
  await until(() => stub.sockets.watches === 0);
  // The next try comes after 30 s.
  const stop = stub.odd({}, { status: 429, retryAfterSeconds: 60 });
  reflect({ shorterRetries: 1 });
  reflector.start();
  await until(() => troubles.length === 1);
  const startedAt = Date.now();
  await reflector.close();
  expect(Date.now() - startedAt).toBeLessThan(15_000);
  stop();
});

it('keep reduces every object: listed, watched and written ones', async () => {
  put('listed', 'Running');
  const small = new Reflector<Pod>(api, {
    kind: PODS,
    namespace: NS,
    labelSelector: 'ours=yes',
    keep: ({ metadata: { name, uid, resourceVersion } }) => ({ metadata: { name, uid, resourceVersion } }),
  });
  small.start();
  await until(() => stub.sockets.watches === 1);
  put('later', 'Running');
  await until(() => small.get('later') !== undefined);
  small.remember({ metadata: { name: 'written', uid: 'w', resourceVersion: '999' }, status: { phase: 'Running' } });
  expect([...small.values()].map((pod) => [pod.metadata.name, Object.keys(pod)])).toEqual(
    ['listed', 'later', 'written'].map((name) => [name, ['metadata']]),
  );
  await small.close();
});

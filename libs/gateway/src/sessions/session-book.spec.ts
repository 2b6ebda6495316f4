import { randomBytes } from 'node:crypto';
import { beforeEach, expect, it, jest } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import type { Dispatcher } from 'undici';
import { passportId, passportKey, sessionKeyHash, type PassportRow, type PassportSighting } from '@slipway/dataplane';
import { DEFAULT_SETTINGS } from '../settings.js';
import { UpstreamBackend } from '../upstream/backend.js';
import type { Instance } from '../upstream/instance.js';
import { SessionBook, type SessionAssignment, type SessionRequest } from './session-book.js';

const key = passportKey(new KeyRing(randomBytes(32)));
const dispatcher = { dispatch: jest.fn(), close: async () => undefined } as unknown as Dispatcher;
const NOW = 5_000;
const TTL_SECONDS = 60;
/** Postgres counts from another moment than `performance.now()`. */
const EPOCH = Date.UTC(2026, 0, 1);
const CLOCK = { at: (ms: number) => EPOCH + ms, monotonic: (ms: number) => ms - EPOCH };

let revoked: Set<string>;
let serving: Set<string>;
let book: SessionBook;

beforeEach(() => {
  revoked = new Set();
  serving = new Set(['rev_1', 'rev_2']);
  book = new SessionBook(key, revoked, 100, CLOCK);
});

const specOf = (id: string, instances: readonly string[]) => ({
  id,
  tenantId: 'ten',
  revisionName: `name of ${id}`,
  deploymentId: 'dep',
  asleep: null,
  modelId: 'm',
  authorization: null,
  guard: { allow: [] },
  instances: instances.map((one) => ({
    id: one,
    base_url: `http://${one}`,
    state: 'ready' as const,
    authorization: null,
  })),
});
const backendOf = (id: string, ...instances: string[]): UpstreamBackend =>
  new UpstreamBackend(specOf(id, instances), DEFAULT_SETTINGS, () => dispatcher);

const request = (session: string, rest: Partial<SessionRequest> = {}): SessionRequest => ({
  session: { key: session, source: 'user' },
  tenantId: 'ten',
  deploymentId: 'dep',
  deploymentName: 'chat',
  subject: 'tok',
  affinity: { mode: 'soft', ttl_seconds: TTL_SECONDS },
  isRevisionHidden: false,
  ...rest,
});
const idOf = (session: string): string => passportId(key, 'ten', 'dep', session);

const assign = (to: UpstreamBackend, asked = request('s'), now = NOW): SessionAssignment =>
  book.assign(asked, to, (id) => serving.has(id), now) as SessionAssignment;
/** Assigns a session's request and marks it as answered. */
function serve(to: UpstreamBackend, asked = request('s'), now = NOW): SessionAssignment {
  const assignment = assign(to, asked, now);
  if (assignment) book.settled(asked, assignment, true, now);
  return assignment;
}
const send = (instance: Instance, times = 1): void => {
  for (let n = 0; n < times; n += 1) instance.dispatch({ path: '/', method: 'POST' }, {});
};
/** Returns the only session's sighting since the last call. */
function seen(): PassportSighting {
  const taken = book.takeUnwritten();
  expect(taken).toHaveLength(1);
  return taken[0] as PassportSighting;
}

it('binds a session at its first request and returns to it, even if another instance is idler', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  const first = serve(backend);
  expect(first).toMatchObject({ outcome: 'miss', passportId: idOf('s') });
  send(first.instance, 3);
  for (let n = 0; n < 10; n += 1) expect(serve(backend)).toEqual({ ...first, outcome: 'hit' });
  expect(seen()).toEqual({
    id: idOf('s'),
    tenant_id: 'ten',
    deployment_id: 'dep',
    deployment_name: 'chat',
    key_hash: sessionKeyHash(key, 'ten', 's'),
    source: 'user',
    subject: 'tok',
    mode: 'soft',
    ttl_seconds: TTL_SECONDS,
    revision_id: 'rev_1',
    revision_name: 'name of rev_1',
    instance_id: first.instance.id,
    bound_at: new Date(EPOCH + NOW).toISOString(),
    last_seen_at: new Date(EPOCH + NOW).toISOString(),
    expires_at: new Date(EPOCH + NOW + TTL_SECONDS * 1000).toISOString(),
    requests: 11,
    hits: 10,
    misses: 1,
    rebinds: 0,
    last_rebind_reason: null,
  });
});

it('ends a binding after its idle time, and each request renews it', () => {
  const backend = backendOf('rev_1', 'a');
  serve(backend);
  expect(serve(backend, request('s'), NOW + 59_999).outcome).toBe('hit');
  expect(serve(backend, request('s'), NOW + 119_998).outcome).toBe('hit');
  seen();
  expect(serve(backend, request('s'), NOW + 179_998).outcome).toBe('rebind');
  expect(seen()).toMatchObject({
    last_rebind_reason: 'ttl_expired',
    requests: 1,
    hits: 0,
    misses: 0,
    rebinds: 1,
    bound_at: new Date(EPOCH + NOW + 179_998).toISOString(),
  });
});

it('follows the drawn revision, and reports whether the previous one still serves', () => {
  const [one, two] = [backendOf('rev_1', 'a'), backendOf('rev_2', 'b')];
  serve(one);
  expect(serve(two).outcome).toBe('rebind');
  expect(seen()).toMatchObject({ last_rebind_reason: 'weights_changed', revision_id: 'rev_2', instance_id: 'b' });
  expect(serve(two).outcome).toBe('hit');
  serving.delete('rev_2');
  expect(serve(one).outcome).toBe('rebind');
  expect(seen()).toMatchObject({ last_rebind_reason: 'revision_retired', revision_id: 'rev_1', instance_id: 'a' });
  // The binding has expired too, but the reason why the session had to move says more.
  serving.add('rev_1');
  expect(serve(two, request('s'), NOW + TTL_SECONDS * 1000).outcome).toBe('rebind');
  expect(seen().last_rebind_reason).toBe('weights_changed');
});

it('moves a session to the idlest instance if its own is gone or far busier', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  const { instance } = serve(backend);
  const other = instance.id === 'a' ? 'b' : 'a';
  send(instance, 8);
  expect(serve(backend)).toMatchObject({ outcome: 'rebind', instance: { id: other } });
  expect(seen().last_rebind_reason).toBe('capacity');
  backend.update(specOf('rev_1', [instance.id]));
  expect(serve(backend)).toMatchObject({ outcome: 'rebind', instance: { id: instance.id } });
  expect(seen().last_rebind_reason).toBe('target_unhealthy');
  backend.update(specOf('rev_1', []));
  expect(serve(backend)).toBeUndefined();
});

it('counts a request that a retry moved once, as moved', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  const first = assign(backend);
  const other = backend.leastLoaded(NOW, [first.instance]) as Instance;
  const moved = book.moved(request('s'), first, backend, other, NOW);
  expect(moved).toMatchObject({ passportId: idOf('s'), outcome: 'rebind', instance: other });
  book.settled(request('s'), moved, true, NOW);
  expect(serve(backend)).toMatchObject({ outcome: 'hit', instance: { id: other.id } });
  expect(seen()).toMatchObject({
    requests: 2,
    misses: 0,
    hits: 1,
    rebinds: 1,
    last_rebind_reason: 'target_unhealthy',
    instance_id: other.id,
  });
});

it('keeps no record of a session that was never answered, and one record from the first answer on', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  const none = request('none', { affinity: { mode: 'none', ttl_seconds: TTL_SECONDS } });
  book.settled(none, assign(backend, none), false, NOW);
  for (const outcome of ['miss', 'hit']) {
    const assignment = assign(backend);
    expect(assignment.outcome).toBe(outcome);
    book.settled(request('s'), assignment, false, NOW);
  }
  const first = assign(backend);
  const moved = book.moved(request('s'), first, backend, backend.leastLoaded(NOW, [first.instance]) as Instance, NOW);
  book.settled(request('s'), moved, false, NOW);
  expect(book.takeUnwritten()).toEqual([]);
  serve(backend);
  expect(seen()).toMatchObject({ requests: 1, hits: 1, rebinds: 0, misses: 0 });
  book.settled(request('s'), assign(backend), false, NOW);
  expect(seen()).toMatchObject({ requests: 1 });
  const again = book.moved(request('s'), assign(backend), backend, first.instance, NOW);
  book.settled(request('s'), again, false, NOW);
  expect(seen()).toMatchObject({ requests: 1, rebinds: 1 });
});

it('has no binding with affinity none, and still records the session', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  const asked = request('s', { affinity: { mode: 'none', ttl_seconds: TTL_SECONDS } });
  const first = serve(backend, asked);
  send(first.instance);
  const second = serve(backend, asked);
  expect([first.outcome, second.outcome, second.instance.id === first.instance.id]).toEqual(['off', 'off', false]);
  expect(book.moved(asked, second, backend, first.instance, NOW)).toEqual({ ...second, instance: first.instance });
  expect(book.size).toBe(0);
  expect(seen()).toMatchObject({ mode: 'none', requests: 2, hits: 0, misses: 0, rebinds: 0, instance_id: null });
});

it('treats a revoked session as none, records nothing more of it, and starts anew when it is declared again', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  serve(backend);
  book.takeUnwritten();
  revoked.add(idOf('s'));
  book.forget(idOf('s'));
  expect([serve(backend).outcome, book.size, book.takeUnwritten()]).toEqual(['off', 0, []]);
  revoked.delete(idOf('s'));
  expect(serve(backend).outcome).toBe('miss');
});

it('reveals nothing about the revision that serves a published product', () => {
  const backend = backendOf('rev_1', 'a');
  serve(backend, request('s', { isRevisionHidden: true }));
  expect(serve(backend, request('s', { isRevisionHidden: true })).outcome).toBe('hit');
  expect(seen()).toMatchObject({ hits: 1, revision_id: null, revision_name: null, instance_id: null });
});

it('takes over bindings of the previous process, but none that replaces its own', () => {
  const backend = backendOf('rev_1', 'a', 'b');
  const rowOf = (session: string, rest: Partial<PassportRow>): PassportRow =>
    ({
      id: idOf(session),
      revision_id: 'rev_1',
      revision_name: 'n',
      bound_at: new Date(EPOCH + NOW),
      created_at: new Date(EPOCH + NOW),
      expires_at: new Date(EPOCH + NOW + 60_000),
      ...rest,
    }) as PassportRow;
  const own = serve(backend, request('own')).instance.id;
  book.load([
    rowOf('own', { instance_id: own === 'a' ? 'b' : 'a' }),
    ...['b', 'a'].map((id) => rowOf(`on ${id}`, { instance_id: id })),
    rowOf('declared', { revision_id: null, instance_id: null, bound_at: null }),
  ]);
  expect(serve(backend, request('own'))).toMatchObject({ outcome: 'hit', instance: { id: own } });
  for (const id of ['a', 'b'])
    expect(serve(backend, request(`on ${id}`))).toMatchObject({ outcome: 'hit', instance: { id } });
  expect(serve(backend, request('declared')).outcome).toBe('miss');
  book.load([rowOf('late', { instance_id: 'a', expires_at: new Date(EPOCH + NOW) })]);
  expect(serve(backend, request('late')).outcome).toBe('rebind');
});

it('adds what could not be written to later sightings, and keeps the newer reason', () => {
  const [one, two] = [backendOf('rev_1', 'a'), backendOf('rev_2', 'b')];
  serve(one);
  serve(two);
  const failed = book.takeUnwritten();
  serve(two, request('s'), NOW + 1_000);
  book.putBack(failed);
  expect(seen()).toMatchObject({
    requests: 3,
    misses: 1,
    rebinds: 1,
    hits: 1,
    last_rebind_reason: 'weights_changed',
    last_seen_at: new Date(EPOCH + NOW + 1_000).toISOString(),
  });
  book.putBack(failed.map((sighting) => ({ ...sighting, last_rebind_reason: 'capacity' as const })));
  serve(two, request('s'), NOW + 60_000_000);
  const newer = book.takeUnwritten();
  expect(newer[0]?.last_rebind_reason).toBe('ttl_expired');
  book.putBack(newer);
  book.putBack(failed);
  expect(seen().last_rebind_reason).toBe('ttl_expired');
});

it('keeps at most its limit of bindings, the most recently used ones', () => {
  book = new SessionBook(key, revoked, 2, CLOCK);
  const backend = backendOf('rev_1', 'a');
  for (const session of ['x', 'y', 'x', 'z']) serve(backend, request(session));
  expect(['x', 'z', 'y'].map((session) => serve(backend, request(session)).outcome)).toEqual(['hit', 'hit', 'miss']);
});

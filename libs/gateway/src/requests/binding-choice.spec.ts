import { expect, it } from '@jest/globals';
import type { PublishedBinding, PublishedRow } from '@slipway/dataplane';
import type { GatewayError } from '../gateway.errors.js';
import type { UpstreamBackend } from '../upstream/backend.js';
import { BindingLimits, chooseBinding, userOf } from './binding-choice.js';
import { isVisible } from './model-list.js';

const binding = (id: string, rest: Partial<PublishedBinding> = {}): PublishedBinding => ({
  binding_id: id,
  weight: 1,
  priority: 0,
  upstream: { kind: 'revision', deployment_id: 'dep', revision_id: id },
  ...rest,
});
const published = (...bindings: PublishedBinding[]): PublishedRow => ({
  slug: 'acme/chat',
  tenant_id: 'ten_publisher',
  product_id: 'prd',
  bindings,
  audience: { visibility: 'tenant', tenants: ['ten_reader'] },
  version: 1,
  created_at: '2026-01-01T00:00:00Z',
});

/** A paused one has a wait left, of which `refused` is also kept if nothing else can serve. */
type State = 'well' | 'ejected' | 'away' | 'unknown' | 'paused' | 'refused';

/**
 * Returns the binding drawn for a request of this session, with each binding in its state; without one, the status of
 * the refusal.
 */
function chosen(
  row: PublishedRow,
  states: Record<string, State> = {},
  { limits = new BindingLimits(), session = undefined as string | undefined, now = 0, tenant = 'ten_reader' } = {},
): string | number {
  const backendOf = ({ binding_id: id }: PublishedBinding): UpstreamBackend | undefined => {
    const state = states[id] ?? 'well';
    if (state === 'unknown') return undefined;
    const refusedMs = (): number => (state === 'refused' ? 4_100 : 0);
    return { isServing: state !== 'away', isWell: () => state === 'well', refusedMs } as unknown as UpstreamBackend;
  };
  try {
    const user = userOf(row, tenant);
    const { binding: drawn } = chooseBinding(row, backendOf, limits, user, session, now);
    limits.enter(drawn, user, now);
    return drawn.binding_id;
  } catch (error) {
    return (error as GatewayError).status;
  }
}

const shares = (row: PublishedRow, draw: (n: number) => string | number): Record<string, number> => {
  const counts: Record<string, number> = Object.fromEntries(row.bindings.map(({ binding_id: id }) => [id, 0]));
  for (let n = 0; n < 2_000; n += 1) counts[draw(n)]! += 1;
  return counts;
};

it('a slug is visible to the publisher and its audience, or to all if it is shared', () => {
  const row = published();
  expect(['ten_publisher', 'ten_reader', 'ten_other'].map((tenant) => isVisible(row, tenant))).toEqual([
    true,
    true,
    false,
  ]);
  row.audience = { visibility: 'shared', tenants: [] };
  expect(isVisible(row, 'ten_other')).toBe(true);
});

it('prefers the lowest priority that is healthy, then the lowest that serves at all', () => {
  const row = published(binding('a', { priority: 2 }), binding('b', { priority: 1 }), binding('c', { priority: 3 }));
  expect(chosen(row)).toBe('b');
  expect(chosen(row, { b: 'away' })).toBe('a');
  expect(chosen(row, { b: 'ejected' })).toBe('a');
  expect(chosen(row, { b: 'unknown', a: 'ejected' })).toBe('c');
  expect(chosen(row, { a: 'ejected', b: 'ejected', c: 'ejected' })).toBe('b');
  expect(chosen(row, { a: 'away', b: 'away', c: 'unknown' })).toBe(503);
});

it('sends nothing to a supplier that requests a wait while another can serve, and answers 429 if none can', () => {
  const row = published(binding('a'), binding('b', { priority: 1 }));
  expect(chosen(row, { a: 'paused' })).toBe('b');
  expect(chosen(row, { a: 'refused', b: 'ejected' })).toBe('b');
  expect(chosen(row, { a: 'paused', b: 'refused' })).toBe('a');
  expect(chosen(row, { a: 'refused', b: 'refused' })).toBe(429);
  expect(chosen(row, { a: 'refused', b: 'away' })).toBe(429);
});

it('draws by weight among equals, also for sessions, and never draws weight 0', () => {
  const row = published(binding('a', { weight: 3 }), binding('b'), binding('none', { weight: 0 }));
  const drawn = shares(row, () => chosen(row));
  expect(drawn['none']).toBe(0);
  expect(Math.abs((drawn['a'] as number) - 1_500)).toBeLessThan(100);
  const sessionShares = shares(row, (n) => chosen(row, {}, { session: `session ${n}` }));
  expect(sessionShares['none']).toBe(0);
  expect(Math.abs((sessionShares['a'] as number) - 1_500)).toBeLessThan(100);
});

it('gives a session the same binding again, and can give it another binding for another slug', () => {
  const row = published(binding('a'), binding('b'));
  const elsewhere = { ...row, slug: 'acme/other' };
  const sessions = Array.from({ length: 50 }, (_, n) => `session ${n}`);
  const draw = (of: PublishedRow) => sessions.map((session) => chosen(of, {}, { session }));
  expect(draw(row)).toEqual(draw(row));
  expect(draw(elsewhere)).not.toEqual(draw(row));
});

/** One tenant may use the whole binding. */
const ALL = { share_per_tenant: 1 };

it('respects a binding’s limit of concurrent requests, and draws the next binding if it is full', () => {
  const limits = new BindingLimits();
  const full = binding('a', { limits: { ...ALL, max_concurrency: 2 } });
  const row = published(full, binding('b', { priority: 1, limits: { ...ALL, max_concurrency: 1 } }));
  expect([chosen(row, {}, { limits }), chosen(row, {}, { limits })]).toEqual(['a', 'a']);
  expect(chosen(row, {}, { limits })).toBe('b');
  // Only limits prevent it: the answer is 429 and not 503.
  expect(chosen(row, {}, { limits })).toBe(429);
  limits.leave('a', 'ten_reader');
  expect(chosen(row, {}, { limits })).toBe('a');
});

it('respects a binding’s limit of requests per second, with one second’s worth at once', () => {
  const limits = new BindingLimits();
  const row = published(binding('a', { limits: { ...ALL, max_rps: 5 } }));
  const at = (now: number, times: number) => Array.from({ length: times }, () => chosen(row, {}, { limits, now }));
  expect(at(0, 6)).toEqual(['a', 'a', 'a', 'a', 'a', 429]);
  expect(at(200, 2)).toEqual(['a', 429]);
  expect(at(60_000, 6)).toEqual(['a', 'a', 'a', 'a', 'a', 429]);
  // A clock that is set back adds nothing, and takes nothing from later requests.
  expect(at(0, 1)).toEqual([429]);
  expect(at(1_000, 6)).toEqual(['a', 'a', 'a', 'a', 'a', 429]);
});

it('draws a binding with a rate of less than one request per second', () => {
  const limits = new BindingLimits();
  const row = published(binding('a', { limits: { ...ALL, max_rps: 0.5 } }));
  expect([0, 1_900, 2_000].map((now) => chosen(row, {}, { limits, now }))).toEqual(['a', 429, 'a']);
});

it('does not count what a binding served without a rate against the rate it gets later', () => {
  const limits = new BindingLimits();
  for (const before of [undefined, { ...ALL, max_concurrency: 1_000_000 }])
    for (let n = 0; n < 5_000; n += 1) chosen(published(binding('a', { limits: before })), {}, { limits });
  const row = published(binding('a', { limits: { ...ALL, max_rps: 10 } }));
  expect(chosen(row, {}, { limits, now: 1_000 })).toBe('a');
});

it('forgets idle users of a binding, never those with requests in flight or a debt', () => {
  const limits = new BindingLimits();
  const kept = (): number => (limits as unknown as { usage: { size: number } }).usage.size;
  const row = published(binding('a', { limits: { ...ALL, max_concurrency: 10 } }));
  const slow = published(binding('slow', { limits: { ...ALL, max_rps: 0.001 } }));
  // It sweeps idle ones periodically, starting from its creation.
  const now = performance.now();
  for (const tenant of ['ten_idle', 'ten_busy']) chosen(row, {}, { limits, tenant, now });
  limits.leave('a', 'ten_idle');
  chosen(slow, {}, { limits, now });
  limits.leave('slow', 'ten_reader');
  expect(kept()).toBe(5);
  expect(chosen(slow, {}, { limits, now: now + 500_000 })).toBe(429);
  // The idle tenant, and the tenant of the slow binding, whose rate is not limited.
  expect(kept()).toBe(3);
});

it('leaves half of the limits of a shared slug to other tenants, and at least one request to each', () => {
  const limits = new BindingLimits();
  const ask = (row: PublishedRow, tenant: string, now = 0) => chosen(row, {}, { limits, tenant, now });
  const row = published(binding('a', { limits: { max_concurrency: 4 } }));
  expect([1, 2, 3].map(() => ask(row, 'ten_reader'))).toEqual(['a', 'a', 429]);
  expect([1, 2, 3].map(() => ask(row, 'ten_publisher'))).toEqual(['a', 'a', 429]);
  limits.leave('a', 'ten_reader');
  expect([ask(row, 'ten_publisher'), ask(row, 'ten_reader')]).toEqual([429, 'a']);

  const narrow = published(binding('b', { limits: { max_concurrency: 1 } }));
  expect([ask(narrow, 'ten_reader'), ask(narrow, 'ten_publisher')]).toEqual(['b', 429]);

  const paced = published(binding('c', { limits: { max_rps: 8 } }));
  expect(Array.from({ length: 5 }, () => ask(paced, 'ten_reader'))).toEqual(['c', 'c', 'c', 'c', 429]);
  expect(Array.from({ length: 5 }, () => ask(paced, 'ten_publisher'))).toEqual(['c', 'c', 'c', 'c', 429]);
  expect([ask(paced, 'ten_reader', 250), ask(paced, 'ten_reader', 250)]).toEqual(['c', 429]);

  const own = published(binding('d', { limits: { max_concurrency: 2 } }));
  own.audience = { visibility: 'tenant', tenants: ['ten_publisher'] };
  expect([1, 2, 3].map(() => ask(own, 'ten_publisher'))).toEqual(['d', 'd', 429]);
  const set = published(binding('e', { limits: { max_concurrency: 4, share_per_tenant: 0.25 } }));
  expect([ask(set, 'ten_reader'), ask(set, 'ten_reader'), ask(set, 'ten_publisher')]).toEqual(['e', 429, 'e']);
});

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { PublishedHold } from '@slipway/dataplane';
import type { GatewayError } from '../gateway.errors.js';
import { DatabaseClock } from '../postgres/database-clock.js';
import { ClientGoneError } from '../requests/body-reader.js';
import { HoldQueue, type EndCallback } from './hold-queue.js';
import { HoldShares } from './hold-shares.js';
import { HoldStats } from './hold-stats.js';

const NOW = '2026-01-01T00:00:00Z';
const terms = (rest: Partial<PublishedHold> = {}): PublishedHold => ({
  max_seconds: 60,
  estimated_seconds: null,
  since: NOW,
  ...rest,
});

let stats: HoldStats;
let queue: HoldQueue;
let isOver: boolean;
/**
 * The released requests in order, each with the callback that ends it; refused and disconnected ones by their status.
 */
let gone: { n: number; end: EndCallback }[];
let refused: [n: number, why: string | number][];
let refusals: GatewayError[];
let clock: DatabaseClock;

beforeEach(() => {
  jest.useFakeTimers({ now: new Date(NOW) });
  stats = new HoldStats();
  clock = new DatabaseClock();
  isOver = false;
  [gone, refused, refusals] = [[], [], []];
  queue = new HoldQueue(
    { deploymentId: 'dep', ownerId: 'ten' },
    new HoldShares({ maxRequests: 1_000, maxBytes: 10_000 }),
    stats,
    () => (isOver = true),
    clock,
  );
});
afterEach(() => {
  jest.useRealTimers();
});

const waitFor = async (n: number, signal = new AbortController().signal): Promise<void> => {
  const waiting = { tenantId: 'ten', bytes: 1, arrivedAt: performance.now(), signal };
  try {
    gone.push({ n, end: await queue.wait(waiting) });
  } catch (error) {
    refused.push([n, error instanceof ClientGoneError ? 'gone' : (error as GatewayError).status]);
    refusals.push(error as GatewayError);
  }
};
const waitAll = (count: number): void => {
  for (let n = 0; n < count; n += 1) void waitFor(n);
};
const order = (): number[] => gone.map(({ n }) => n);
const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

it('releases no request while it holds, then all in the order of their arrival, a few at first, and ends', async () => {
  queue.hold(terms());
  waitAll(500);
  await after(59_000);
  expect(gone).toEqual([]);
  queue.letGo();
  await after(0);
  expect(order()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  gone[0]!.end();
  await after(0);
  expect(order()).toHaveLength(10);
  await after(500);
  expect(order()).toHaveLength(20);
  // A request that arrives now waits behind them.
  void waitFor(500);
  await after(2_500);
  expect(order()).toEqual(Array.from({ length: 501 }, (_, n) => n));
  expect([isOver, refused, queue.size]).toEqual([true, [], 0]);
});

it('ends at once if no request waits', () => {
  queue.hold(terms());
  expect(isOver).toBe(false);
  queue.letGo();
  expect(isOver).toBe(true);
});

it('keeps requests that still wait when a new hold begins', async () => {
  queue.hold(terms());
  waitAll(20);
  queue.letGo();
  await after(400);
  queue.hold(terms({ max_seconds: 10 }));
  await after(9_000);
  for (const { end } of gone) end();
  await after(0);
  expect(order()).toHaveLength(8);
  // Counted from their arrival and not from the new hold.
  await after(600);
  expect(refused).toHaveLength(12);
});

it('refuses each request when its longest wait is over, and says when to come back', async () => {
  queue.hold(terms({ max_seconds: 10, estimated_seconds: 8 }));
  void waitFor(0);
  await after(6_000);
  void waitFor(1);
  await after(4_000);
  expect(refused).toEqual([[0, 503]]);
  expect(refusals[0]).toMatchObject({
    code: 'deployment_restarting',
    headers: { 'retry-after': '1' },
    details: { estimated_seconds: 0 },
  });
  await after(6_000);
  expect(refused.map(([n]) => n)).toEqual([0, 1]);
  expect(stats.refused).toMatchObject({ age: 2, full: 0, estimate: 0 });
  queue.letGo();
  expect(isOver).toBe(true);
});

it.each([
  [{ estimated_seconds: 61 }, 60, 61],
  [{ estimated_seconds: 600 }, 60, 600],
  [{ max_seconds: 5, estimated_seconds: 12 }, 12, 12],
])('refuses a request at once if it would wait longer than allowed: %j', async (rest, retryAfter, estimated) => {
  queue.hold(terms(rest));
  await waitFor(0);
  expect(refusals[0]).toMatchObject({
    headers: { 'retry-after': String(retryAfter) },
    details: { estimated_seconds: estimated },
  });
  expect(stats.refused.estimate).toBe(1);
});

it('subtracts the elapsed time from the estimate, and a wrong clock subtracts at most all of it', async () => {
  queue.hold(terms({ estimated_seconds: 90 }));
  await waitFor(0);
  await after(30_000);
  void waitFor(1);
  await after(0);
  expect([refused.length, queue.size]).toEqual([1, 1]);
  queue.hold(terms({ estimated_seconds: 30, since: '2027-01-01T00:00:00Z' }));
  void waitFor(2);
  await after(0);
  expect([refused.length, queue.size]).toEqual([1, 2]);
});

it('refuses a request without capacity, with the longest wait as Retry-After if nothing is estimated', async () => {
  queue.hold(terms({ max_seconds: 45 }));
  waitAll(1_001);
  await after(0);
  expect(refused).toEqual([[1_000, 503]]);
  expect(refusals[0]).toMatchObject({ headers: { 'retry-after': '45' }, details: { estimated_seconds: null } });
  expect(stats.refused.full).toBe(1);
});

it('forgets a client that disconnects, and frees its capacity', async () => {
  queue.hold(terms());
  const client = new AbortController();
  void waitFor(0, client.signal);
  void waitFor(1);
  client.abort();
  await after(0);
  expect([refused, queue.size]).toEqual([[[0, 'gone']], 1]);
  queue.letGo();
  await after(0);
  expect(order()).toEqual([1]);
});

it('continues to hold when no request waits', async () => {
  queue.hold(terms());
  const client = new AbortController();
  void waitFor(0, client.signal);
  client.abort();
  expect(isOver).toBe(false);
  void waitFor(1);
  await after(0);
  expect(queue.size).toBe(1);
});

it('ends when the last waiting request leaves while the others are released', async () => {
  queue.hold(terms());
  const client = new AbortController();
  waitAll(8);
  void waitFor(8, client.signal);
  queue.letGo();
  expect(isOver).toBe(false);
  client.abort();
  expect(isOver).toBe(true);
});

it('answers waiting requests when the process ends, and refuses new ones', async () => {
  queue.hold(terms());
  waitAll(2);
  queue.refuseAll();
  await waitFor(2);
  expect(refused.map(([, status]) => status)).toEqual([503, 503, 503]);
});

it('counts how long released requests waited', async () => {
  queue.hold(terms());
  waitAll(2);
  await after(3_000);
  queue.letGo();
  await after(0);
  const lines = stats.lines(0);
  expect(lines).toContain('slipway_gateway_hold_seconds_bucket{le="2.5"} 0');
  expect(lines).toContain('slipway_gateway_hold_seconds_bucket{le="5"} 2');
  expect(lines).toContain('slipway_gateway_hold_seconds_sum 6');
});

it('computes the rest of an estimate by the clock of Postgres', async () => {
  const hourMs = 3_600_000;
  clock.measure(Date.parse(NOW) + hourMs, performance.now());
  queue.hold(terms({ estimated_seconds: 600, since: new Date(Date.parse(NOW) + hourMs - 60_000).toISOString() }));
  await waitFor(1);
  expect(refusals[0]).toMatchObject({ details: { estimated_seconds: 540 } });
});

it.each([1, 2, 3, 4, 5])(
  'answers each request once and exceeds no bound, whatever arrives, leaves and changes (%i)',
  async (seed) => {
    let state = seed;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * below);
    };
    const shares = new HoldShares({ maxRequests: 20, maxBytes: 1_000 });
    queue = new HoldQueue({ deploymentId: 'dep', ownerId: 'ten' }, shares, stats, () => undefined, clock);
    const told: number[] = [];
    const went: number[] = [];
    const clients: AbortController[] = [];
    const come = async (n: number): Promise<void> => {
      const client = new AbortController();
      clients.push(client);
      const tenantId = random(2) === 0 ? 'ten' : 'ten_guest';
      const waiting = { tenantId, bytes: random(120), arrivedAt: performance.now(), signal: client.signal };
      try {
        const end = await queue.wait(waiting);
        went.push(n);
        setTimeout(end, random(2_000));
      } catch {
        // Refused, or disconnected.
      }
      told.push(n);
    };
    queue.hold(terms({ max_seconds: 5 }));
    const all: Promise<void>[] = [];
    for (let step = 0; step < 400; step += 1) {
      const what = random(20);
      if (what === 0) queue.hold(terms({ max_seconds: 1 + random(10) }));
      else if (what === 1) queue.letGo();
      else if (what === 2) clients[random(clients.length)]?.abort();
      else if (what < 6) await after(random(800));
      else all.push(come(all.length));
      expect([queue.size <= 20, shares.requests]).toEqual([true, queue.size]);
    }
    queue.hold(terms());
    queue.letGo();
    await after(10_000);
    await Promise.all(all);
    expect([...told].sort((a, b) => a - b)).toEqual(all.map((_, n) => n));
    expect(went).toEqual([...went].sort((a, b) => a - b));
    expect([went.length > 20, shares.requests, queue.size]).toEqual([true, 0, 0]);
  },
);

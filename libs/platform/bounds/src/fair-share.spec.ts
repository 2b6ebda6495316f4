import { beforeEach, expect, it, jest } from '@jest/globals';
import { FairShare, type ShareBounds, type ShareUse } from './fair-share.js';

let now: number;
let begun: string[];

beforeEach(() => {
  jest.useFakeTimers();
  now = 0;
  begun = [];
});

const BOUNDS: ShareBounds = { total: 8, alone: 8, contended: 4, mostWaiting: 100, waitMs: 1_000 };
const shareOf = (bounds: Partial<ShareBounds> = {}): FairShare =>
  new FairShare(
    { ...BOUNDS, ...bounds },
    () => new Error('refused'),
    () => now,
  );

/** Enters, and notes when the use begins. */
function enter(share: FairShare, key: string | undefined, name: string, units = 1): ShareUse {
  const use = share.enter(key, units);
  if (use.isWaiting) {
    use.onBegin = () => begun.push(name);
    use.onRefused = ({ message }) => begun.push(`${name} ${message}`);
  } else begun.push(name);
  return use;
}

const several = (share: FairShare, key: string, count: number): ShareUse[] =>
  Array.from({ length: count }, (_, index) => enter(share, key, `${key}${index}`));

it('gives a key that is alone everything, and the next use waits for the first that ends', () => {
  const share = shareOf();
  const uses = several(share, 'a', 10);
  expect(begun).toHaveLength(8);
  uses[5]?.end();
  expect(begun.slice(8)).toEqual(['a8']);
  uses[5]?.end();
  expect(begun).toHaveLength(9);
  expect([share.inUse, share.waitingCount]).toEqual([8, 1]);
});

it('gives a key next to another one its part, however much of the total is free, and everything again later', () => {
  const share = shareOf();
  enter(share, 'b', 'b').end();
  const uses = several(share, 'a', 10);
  expect(begun).toEqual(['b', 'a0', 'a1', 'a2', 'a3']);
  expect(enter(share, 'b', 'b').isWaiting).toBe(false);
  now += 6_000;
  uses[0]?.end();
  expect(begun.slice(6)).toEqual(['a4', 'a5', 'a6', 'a7']);
});

it('begins the waiting use of the key that uses least, counted in units', () => {
  const share = shareOf({ contended: 8 });
  const uses = several(share, 'a', 12);
  enter(share, 'b', 'b0', 2);
  enter(share, 'b', 'b1', 2);
  enter(share, 'c', 'c0');
  begun = [];
  for (const use of uses.slice(0, 6)) use.end();
  expect(begun).toEqual(['b0', 'c0', 'b1', 'a8']);
});

it('serves keys that use as much as each other in turn', () => {
  const share = shareOf({ total: 1, contended: 1 });
  const uses = [enter(share, 'a', 'first'), ...several(share, 'a', 2), ...several(share, 'b', 2)];
  begun = [];
  for (let index = 0; index < 4; index += 1) {
    now += 1;
    uses.find(({ state }) => state === 'active')?.end();
  }
  expect(begun).toEqual(['b0', 'a0', 'b1', 'a1']);
});

it('lets a key with waiting uses begin when the others have ended, or its part in each period', () => {
  const share = shareOf({ contended: 2, yieldMs: 40 });
  enter(share, 'b', 'b').end();
  const busy = several(share, 'a', 6);
  const quiet = enter(share, 'b', 'quiet');
  begun = [];
  busy[0]?.end();
  busy[1]?.end();
  expect(begun).toEqual([]);
  // A key without waiting uses begins at once.
  enter(share, 'c', 'c').end();
  expect(begun).toEqual(['c']);
  quiet.end();
  expect(begun).toEqual(['c', 'a2', 'a3']);
  enter(share, 'b', 'quiet');
  busy[2]?.end();
  expect(begun.slice(3)).toEqual(['quiet']);
  now += 50;
  jest.advanceTimersByTime(50);
  expect(begun.slice(4)).toEqual(['a4']);
  // Its part of this period is two units.
  busy[3]?.end();
  expect(begun.slice(5)).toEqual(['a5']);
  expect(jest.getTimerCount()).toBe(0);
});

it('does not let keys with waiting uses wait for each other', () => {
  const share = shareOf({ contended: 2, yieldMs: 40 });
  enter(share, 'b', 'b').end();
  const busy = [...several(share, 'a', 4), ...several(share, 'b', 4)];
  begun = [];
  busy[0]?.end();
  busy.find(({ owner, state }) => owner.key === 'b' && state === 'active')?.end();
  expect(begun).toEqual(['a2', 'b2']);
});

it('begins a use that is larger than the part of its key, if the key uses nothing else', () => {
  const share = shareOf();
  enter(share, 'b', 'b').end();
  const large = enter(share, 'a', 'large', 6);
  enter(share, 'a', 'small');
  expect(begun).toEqual(['b', 'large']);
  large.end();
  expect(begun).toEqual(['b', 'large', 'small']);
});

it('begins the first use of a key beyond the total, only if the bounds say so', () => {
  const [strict, free] = [shareOf(), shareOf({ isFirstFree: true })];
  for (const share of [strict, free]) several(share, 'a', 8);
  expect(enter(strict, 'b', 'b').isWaiting).toBe(true);
  expect(enter(free, 'b', 'b0').isWaiting).toBe(false);
  expect(enter(free, 'b', 'b1').isWaiting).toBe(true);
});

it('does not limit the work of the process itself to a part, nor count it as another key', () => {
  const share = shareOf();
  const own = Array.from({ length: 6 }, () => enter(share, undefined, 'own'));
  for (const use of own.slice(2)) use.end();
  begun = [];
  several(share, 'a', 6);
  expect(begun).toHaveLength(6);
});

it('takes a use out of the queue, refuses too many, and refuses one that has waited too long', () => {
  const share = shareOf({ total: 1, mostWaiting: 2 });
  const first = enter(share, 'a', 'first');
  const left = enter(share, 'a', 'left');
  enter(share, 'a', 'late');
  expect(() => share.enter('a')).toThrow('refused');
  left.end();
  expect(jest.getTimerCount()).toBe(1);
  now += 1_100;
  jest.advanceTimersByTime(100);
  expect(begun).toEqual(['first', 'late refused']);
  expect(jest.getTimerCount()).toBe(0);
  first.end();
  expect(share.inUse).toBe(0);
});

it('lends the units of a long use to those that wait, and sets no timer as long as none waits', () => {
  const share = shareOf({ total: 2, lend: { afterMs: 500, atLatestMs: 5_000, isIdle: () => true } });
  const long = enter(share, 'a', 'long', 2);
  expect(jest.getTimerCount()).toBe(0);
  const next = enter(share, 'a', 'next', 2);
  now += 600;
  jest.advanceTimersByTime(100);
  expect(begun).toEqual(['long', 'next']);
  expect(jest.getTimerCount()).toBe(0);
  long.end();
  expect(share.inUse).toBe(2);
  next.end();
  expect(share.inUse).toBe(0);
});

it('does not take a use for one that waits while the resource is busy, unless it takes very long', () => {
  const share = shareOf({ total: 1, waitMs: 10_000, lend: { afterMs: 500, atLatestMs: 5_000, isIdle: () => false } });
  enter(share, 'a', 'slow');
  enter(share, 'a', 'next');
  now += 4_900;
  jest.advanceTimersByTime(100);
  expect(begun).toEqual(['slow']);
  now += 200;
  jest.advanceTimersByTime(100);
  expect(begun).toEqual(['slow', 'next']);
});

it('gives the units back when the work of a use fails', async () => {
  const share = shareOf({ total: 1 });
  const work = () => Promise.reject(new Error('failed'));
  await Promise.all([1, 2].map(() => expect(share.run('a', 1, work)).rejects.toThrow('failed')));
  expect(share.inUse).toBe(0);
});

it('keeps the state of thousands of keys consistent', () => {
  const share = shareOf({ total: 4 });
  const open: ShareUse[] = [];
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let step = 0; step < 3_000; step += 1) {
    now += random(3);
    if (random(2) === 0) open.push(share.enter(`key${random(500)}`, 1 + random(3)));
    else open.splice(random(open.length + 1), 1)[0]?.end();
    const active = open.filter(({ state }) => state === 'active');
    expect(share.inUse).toBe(active.reduce((sum, { units }) => sum + units, 0));
    expect(share.inUse).toBeLessThanOrEqual(4);
    const waiting = open.filter(({ isWaiting }) => isWaiting);
    expect(share.waitingCount).toBe(waiting.length);
    // Something waits only if something else is in use.
    expect(waiting.length === 0 || active.length > 0).toBe(true);
  }
  for (const use of open) use.end();
  expect([share.inUse, share.waitingCount]).toEqual([0, 0]);
});

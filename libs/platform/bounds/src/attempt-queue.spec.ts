import { beforeEach, expect, it } from '@jest/globals';
import { AttemptQueue, type AttemptBounds } from './attempt-queue.js';

const BOUNDS: AttemptBounds = { groupSize: 10, groups: 2, intervalMs: 20, maxRunning: 100, maxWaiting: 1_000 };

/** Names of the attempts in the order of their begin, those of one turn of the event loop together. */
let bursts: string[][];
let isBurstOpen: boolean;
beforeEach(() => {
  [bursts, isBurstOpen] = [[], false];
});

function noteBegin(name: string): void {
  if (!isBurstOpen) bursts.push([]);
  isBurstOpen = true;
  setImmediate(() => (isBurstOpen = false));
  bursts.at(-1)?.push(name);
}

interface Client {
  address?: string;
  claim: string;
  isRight?: boolean;
}
const queueOf = (bounds: Partial<AttemptBounds> = {}) =>
  new AttemptQueue({ ...BOUNDS, ...bounds }, () => new Error('overload'));
const attempt = (queue: AttemptQueue, { address = '10.0.0.1', claim, isRight = false }: Client): Promise<string> =>
  queue
    .run({ address, claim }, async () => {
      noteBegin(claim);
      if (!isRight) throw new Error('wrong');
      return 'right';
    })
    .catch((error: Error) => error.message);
const guesses = (queue: AttemptQueue, size: number, addressOf = (_n: number) => '10.0.0.1') =>
  Array.from({ length: size }, (_, n) => attempt(queue, { address: addressOf(n), claim: `guess${n}` }));

it.each([
  ['one address', () => '10.0.0.1'],
  ['many addresses', (n: number) => `10.0.${n}.1`],
])('checks guesses from %s in groups at a limited pace, and rebursts the result of each', async (_from, addressOf) => {
  const startedAt = performance.now();
  expect(new Set(await Promise.all(guesses(queueOf(), 100, addressOf)))).toEqual(new Set(['wrong']));
  // Two begin at once, the other 98 in ten groups. On a busy machine two groups may begin in one turn.
  expect(bursts[0]?.slice(0, 2)).toEqual(['guess0', 'guess1']);
  expect(bursts.length).toBeLessThanOrEqual(11);
  expect(performance.now() - startedAt).toBeGreaterThan(9 * BOUNDS.intervalMs);
});

it('lets an attempt from another address into the next group, however many guesses wait', async () => {
  const queue = queueOf();
  const flood = guesses(queue, 200);
  expect(await attempt(queue, { address: '10.0.0.2', claim: 'honest', isRight: true })).toBe('right');
  expect(bursts.findIndex((names) => names.includes('honest'))).toBeLessThanOrEqual(1);
  await Promise.all(flood);
});

it('accepts a correct secret from the address of a flood in its order', async () => {
  const queue = queueOf();
  const flood = guesses(queue, 50);
  const honest = attempt(queue, { claim: 'honest', isRight: true });
  const later = guesses(queue, 50);
  expect(await honest).toBe('right');
  expect(bursts.findIndex((names) => names.includes('honest'))).toBeLessThan(6);
  await Promise.all([...flood, ...later]);
});

it('counts all attempts with one claim as one of a group', async () => {
  const queue = queueOf();
  const waiting = guesses(queue, 2);
  const same = Array.from({ length: 300 }, (_, n) => attempt(queue, { claim: 'same', isRight: n === 299 }));
  expect((await Promise.all(same)).filter((result) => result === 'right')).toHaveLength(1);
  expect(bursts.length).toBeLessThanOrEqual(2);
  await Promise.all(waiting);
});

it('does not slow down clients whose attempts succeed', async () => {
  const queue = queueOf({ groups: 1, intervalMs: 60_000 });
  for (let n = 0; n < 50; n += 1) expect(await attempt(queue, { claim: `c${n}`, isRight: true })).toBe('right');
});

it('starts no group while too many attempts run, and the next when one ends', async () => {
  const queue = queueOf({ groups: 100, maxRunning: 2 });
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const slow = (claim: string) =>
    queue.run({ address: claim, claim }, () => {
      begun.push(claim);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = ['a', 'b', 'c'].map(slow);
  expect(begun).toEqual(['a', 'b']);
  ends[0]?.();
  await all[0];
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const end of ends) end();
  await Promise.all(all);
});

it('refuses those of the busiest network if too many wait, and never those of another one', async () => {
  let isClockStopped = true;
  const now = () => (isClockStopped ? 0 : performance.now());
  const queue = new AttemptQueue({ ...BOUNDS, maxWaiting: 20 }, () => new Error('overload'), now);
  const flood = guesses(queue, 100);
  const honest = Array.from({ length: 5 }, (_, n) =>
    attempt(queue, { address: '10.0.0.2', claim: `honest${n}`, isRight: true }),
  );
  isClockStopped = false;
  expect(await Promise.all(honest)).toEqual(Array(5).fill('right'));
  // Two began at once, and five of the twenty that waited made space.
  expect((await Promise.all(flood)).filter((result) => result === 'wrong')).toHaveLength(2 + 20 - 5);
});

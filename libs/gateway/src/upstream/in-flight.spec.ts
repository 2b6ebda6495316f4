import { expect, it } from '@jest/globals';
import { idlest, InFlightCounter, Stay } from './in-flight.js';

function enter(inFlight: InFlightCounter, now: number): Stay {
  const stay = new Stay(inFlight, now);
  inFlight.enter(now);
  return stay;
}

it('the load is the mean over the life of each request, including itself, until its first token and until its end', () => {
  const inFlight = new InFlightCounter(0);
  const first = enter(inFlight, 100);
  enter(inFlight, 110);
  first.noteFirstToken(120);
  first.noteFirstToken(130);
  expect(first.load(140)).toEqual({ mean: 1.75, untilFirstToken: 1.5, aloneMs: 10, isJoined: true });
  inFlight.leave(140);
  expect(inFlight.count).toBe(1);
});

it('the load is one for a request that no other joined, for as long as it lasts', () => {
  const inFlight = new InFlightCounter(0);
  const only = enter(inFlight, 5);
  expect(only.load(5)).toEqual({ mean: 1, untilFirstToken: null, aloneMs: 0, isJoined: false });
  expect(only.load(25)).toEqual({ mean: 1, untilFirstToken: null, aloneMs: 20, isJoined: false });
});

it('gives no time alone to a request that came to others, and ends that time when the first other request joins', () => {
  const inFlight = new InFlightCounter(0);
  enter(inFlight, 0);
  const second = enter(inFlight, 10);
  inFlight.leave(20);
  // The request that was alone first has left; this one was never alone.
  enter(inFlight, 30);
  expect(second.load(40)).toMatchObject({ aloneMs: null, isJoined: false });
  inFlight.leave(40);
  inFlight.leave(40);
  const next = enter(inFlight, 50);
  enter(inFlight, 60);
  inFlight.leave(65);
  enter(inFlight, 70);
  expect(next.load(80)).toMatchObject({ aloneMs: 10, isJoined: true });
});

it('of the instances with the fewest requests in flight, each is chosen equally often', () => {
  const instances = [2, 1, 1, 3, 1].map((inFlight, index) => ({ index, inFlight }));
  const draws = [0.1, 0.1, 0.1, 0.6, 0.1, 0.9, 0.6, 0.6, 0.9, 0.9];
  const chosen = Array.from({ length: 5 }, () => idlest(instances, () => draws.shift() as number)?.index);
  expect(draws).toEqual([]);
  expect(new Set(chosen)).toEqual(new Set([1, 2, 4]));
  expect(idlest([])).toBeUndefined();
});

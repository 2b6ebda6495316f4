import { expect, it } from '@jest/globals';
import { InFlightCounter, Stay } from './in-flight.js';

function enter(inFlight: InFlightCounter, now: number): Stay {
  const stay = new Stay(inFlight, now);
  inFlight.enter(now);
  return stay;
}

it('is the mean over the life of each request, itself included, until its first token and until its end', () => {
  const inFlight = new InFlightCounter(0);
  const first = enter(inFlight, 100);
  enter(inFlight, 110);
  first.noteFirstToken(120);
  first.noteFirstToken(130);
  expect(first.load(140)).toEqual({ mean: 1.75, untilFirstToken: 1.5, aloneMs: 10, isJoined: true });
  inFlight.leave(140);
  expect(inFlight.count).toBe(1);
});

it('of a request that nobody joined is one, for as long as it lasts', () => {
  const inFlight = new InFlightCounter(0);
  const only = enter(inFlight, 5);
  expect(only.load(5)).toEqual({ mean: 1, untilFirstToken: null, aloneMs: 0, isJoined: false });
  expect(only.load(25)).toEqual({ mean: 1, untilFirstToken: null, aloneMs: 20, isJoined: false });
});

it('says nothing of being alone for one that came to others, and takes the first that joins', () => {
  const inFlight = new InFlightCounter(0);
  enter(inFlight, 0);
  const second = enter(inFlight, 10);
  inFlight.leave(20);
  // The one that was alone first has left; this one was never alone.
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

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ServerDoubt } from './server-doubt.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A doubt about a server whose probes get these answers in turn, the last one for ever. */
function doubtOf(...answers: boolean[]): { doubt: ServerDoubt; evidence: string[]; probes: () => number } {
  let count = 0;
  const evidence: string[] = [];
  const probe = async (): Promise<boolean> => {
    count += 1;
    return (answers.length > 1 ? answers.shift() : answers[0]) as boolean;
  };
  const doubt: ServerDoubt = new ServerDoubt(probe, () => void evidence.push(doubt.evidence));
  return { doubt, evidence, probes: () => count };
}

it('a server that answers is alive, and is probed once a second', async () => {
  const { doubt, evidence, probes } = doubtOf(true);
  expect(doubt.evidence).toBe('unknown');
  await jest.advanceTimersByTimeAsync(4_500);
  expect([evidence, probes()]).toEqual([['alive'], 5]);
  doubt.end();
});

it('one missed probe proves nothing, two do, and an answer revokes it', async () => {
  const { doubt, evidence } = doubtOf(true, false, true, false, false, false, true);
  await jest.advanceTimersByTimeAsync(1_900);
  expect(evidence).toEqual(['alive']);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(evidence).toEqual(['alive', 'dead']);
  await jest.advanceTimersByTimeAsync(4_000);
  expect(evidence).toEqual(['alive', 'dead', 'alive']);
  doubt.end();
});

it('the answer to a request counts at once, and saves a probe', async () => {
  const { doubt, evidence, probes } = doubtOf(true, false);
  doubt.confirm();
  expect(evidence).toEqual(['alive']);
  for (let second = 0; second < 5; second += 1) {
    doubt.confirm();
    await jest.advanceTimersByTimeAsync(900);
    doubt.confirm();
    await jest.advanceTimersByTimeAsync(100);
  }
  expect([evidence, probes()]).toEqual([['alive'], 1]);
  doubt.end();
});

it('a doubt that has ended neither probes nor reports', async () => {
  const { doubt, evidence, probes } = doubtOf(false);
  doubt.end();
  doubt.confirm();
  await jest.advanceTimersByTimeAsync(10_000);
  expect([evidence, probes()]).toEqual([[], 1]);
});

import { describe, expect, it } from '@jest/globals';
import { IterationScheduler, type Sequence } from './iteration-scheduler.js';
import { DEFAULT_ITERATION, iterationSettings, type IterationSettings } from './iteration-settings.js';

/** 10 ms an iteration, 0.1 ms a computed token, 0.01 ms a token of context, without what no model knows. */
const EXACT: IterationSettings = {
  ...DEFAULT_ITERATION,
  ...{ stepMs: 10, tokenUs: 100, kvTokenUs: 10, jitter: 0, slowRequests: 0, seed: 1 },
};

type Arrival = { at?: number; promptTokens: number; tokens: number };

/** Runs the scheduler until nothing is left, and returns the times of the tokens of each request. */
function run(
  settings: IterationSettings,
  arrivals: Arrival[],
  eachStep: (scheduler: IterationScheduler<number>) => void = () => undefined,
): { times: number[][]; scheduler: IterationScheduler<number> } {
  const scheduler = new IterationScheduler<number>(settings);
  const times: number[][] = arrivals.map(() => []);
  const left = arrivals.map((arrival, index) => ({ at: 0, ...arrival, index }));
  while (left.length > 0 || scheduler.nextAt < Infinity) {
    while (left.length > 0 && left[0]!.at <= scheduler.nextAt) {
      const { at, index, ...work } = left.shift()!;
      scheduler.submit(at, index, work);
    }
    scheduler.advance(scheduler.nextAt, ({ request, generated }, at) => {
      if (times[request]!.push(at) !== generated)
        throw new Error(`token ${generated} of request ${request} came twice`);
    });
    eachStep(scheduler);
  }
  times.forEach((one, index) => expect(one).toHaveLength(arrivals[index]!.tokens));
  expect([scheduler.running, scheduler.waiting, scheduler.kvUsage]).toEqual([0, 0, 0]);
  return { times, scheduler };
}

const gaps = (times: number[]): number[] => times.slice(1).map((at, index) => at - times[index]!);
const near = (values: number[]): unknown[] => values.map((value) => expect.closeTo(value, 6));

describe('time', () => {
  it('a request alone takes its prompt, then one iteration a token, which get longer with its context', () => {
    const { times } = run(EXACT, [{ at: 5, promptTokens: 100, tokens: 3 }]);
    const first = 5 + 10 + 100 * 0.1;
    const second = first + 10 + 0.1 + 100 * 0.01;
    expect(times[0]).toEqual(near([first, second, second + 10 + 0.1 + 101 * 0.01]));
  });

  it('two equal requests together share each iteration: slower than alone, and faster than one after the other', () => {
    const request = { promptTokens: 100, tokens: 3 };
    const alone = run(EXACT, [request]).times[0]!;
    const [one, other] = run(EXACT, [request, request]).times;
    const first = 10 + 200 * 0.1;
    const second = first + 10 + 0.2 + 200 * 0.01;
    expect(one).toEqual(near([first, second, second + 10 + 0.2 + 202 * 0.01]));
    expect(other).toEqual(one);
    expect(one!.at(-1)).toBeGreaterThan(alone.at(-1)!);
    expect(one!.at(-1)).toBeLessThan(2 * alone.at(-1)!);
  });

  it('a long prompt is computed in chunks, next to the tokens of the others, which it delays', () => {
    const settings = { ...EXACT, maxNumSeqs: 8, maxNumBatchedTokens: 64, kvTokenUs: 0 };
    const { times } = run(settings, [
      { promptTokens: 10, tokens: 40 },
      { at: 100, promptTokens: 640, tokens: 2 },
    ]);
    // 63 tokens of the prompt in each of ten full iterations, and 10 in the eleventh.
    const expected = gaps(times[0]!).map(() => 10.1);
    const arrived = times[0]!.findIndex((at) => at >= 100);
    expected.splice(arrived, 12, ...Array<number>(10).fill(16.4), 11.1, 10.2);
    expect(gaps(times[0]!)).toEqual(near(expected));
    expect(times[1]![0]).toBeCloseTo(times[0]![arrived + 11]!, 6);
  });

  it('a request that arrives during an iteration joins the next one', () => {
    const { times } = run({ ...EXACT, tokenUs: 0, kvTokenUs: 0 }, [
      { promptTokens: 1, tokens: 4 },
      { at: 12, promptTokens: 1, tokens: 1 },
    ]);
    expect(times).toEqual([[10, 20, 30, 40], [30]]);
  });

  it('late calls give the times of punctual ones, and let nothing join an iteration that began before it came', () => {
    const settings = { ...EXACT, tokenUs: 0, kvTokenUs: 0, maxNumSeqs: 2 };
    const scheduler = new IterationScheduler<string>(settings);
    const tokens: string[] = [];
    scheduler.submit(0, 'a', { promptTokens: 1, tokens: 2 });
    scheduler.submit(33, 'b', { promptTokens: 1, tokens: 1 });
    scheduler.submit(95, 'c', { promptTokens: 1, tokens: 1 });
    scheduler.advance(100, ({ request }, at) => tokens.push(`${request} ${at}`));
    expect(tokens).toEqual(['a 10', 'a 20', 'b 43']);
    expect(scheduler.nextAt).toBe(105);
  });
});

describe('the batch', () => {
  const settings = { ...EXACT, tokenUs: 0, kvTokenUs: 0, maxNumSeqs: 2 };

  it('has max-num-seqs slots; others wait in the order of their arrival', () => {
    const seen: number[][] = [];
    const request = { promptTokens: 5, tokens: 2 };
    const { times } = run(
      settings,
      [{ ...request, tokens: 4 }, request, request, { ...request, promptTokens: 1 }],
      ({ running, waiting }) => seen.push([running, waiting]),
    );
    expect(times).toEqual([
      [10, 20, 30, 40],
      [10, 20],
      [30, 40],
      [50, 60],
    ]);
    expect(seen).toEqual([
      [2, 2],
      [2, 2],
      [2, 1],
      [2, 1],
      [1, 0],
      [1, 0],
      [0, 0],
    ]);
  });

  it('gives the slot and the cache of an aborted request to the next one', () => {
    const scheduler = new IterationScheduler<string>({ ...settings, maxNumSeqs: 1, kvTokens: 20 });
    const tokens: string[] = [];
    const submit = (name: string): Sequence<string> => scheduler.submit(0, name, { promptTokens: 8, tokens: 3 });
    const [running, waiting] = ['running', 'waiting'].map(submit);
    submit('last');
    const collect = (until: number): void =>
      scheduler.advance(until, ({ request }, at) => tokens.push(`${request} ${at}`));
    collect(10);
    expect([scheduler.running, scheduler.waiting, scheduler.kvUsage]).toEqual([1, 2, 9 / 20]);
    scheduler.abort(waiting!);
    scheduler.abort(running!);
    scheduler.abort(running!);
    expect([scheduler.running, scheduler.waiting, scheduler.kvUsage]).toEqual([0, 1, 0]);
    collect(1_000);
    expect(tokens).toEqual(['running 10', 'last 30', 'last 40', 'last 50']);
    expect(scheduler.nextAt).toBe(Infinity);
  });

  it('lets a client send its next request when the one before has ended', () => {
    const scheduler = new IterationScheduler<number>(settings);
    const ends: number[] = [];
    scheduler.submit(0, 0, { promptTokens: 1, tokens: 2 });
    scheduler.advance(100, ({ request, tokens, generated }, at) => {
      if (generated < tokens) return;
      ends.push(at);
      if (request < 2) scheduler.submit(at, request + 1, { promptTokens: 1, tokens: 2 });
    });
    expect(ends).toEqual([20, 40, 60]);
  });

  it('refuses a request that the cache cannot hold, and settings with which none could end', () => {
    const scheduler = new IterationScheduler<string>({ ...EXACT, kvTokens: 100 });
    expect(scheduler.fits({ promptTokens: 90, tokens: 10 })).toBe(true);
    expect(scheduler.fits({ promptTokens: 91, tokens: 10 })).toBe(false);
    for (const [promptTokens, tokens] of [
      [91, 10],
      [0, 1],
      [1, 1.5],
      [1, 0],
    ])
      expect(() => scheduler.submit(0, 'x', { promptTokens: promptTokens!, tokens: tokens! })).toThrow(RangeError);
    expect(scheduler.nextAt).toBe(Infinity);
    for (const wrong of [{ maxNumSeqs: 0 }, { maxNumSeqs: 9, maxNumBatchedTokens: 8 }, { stepMs: NaN }, { jitter: 1 }])
      expect(() => new IterationScheduler({ ...EXACT, ...wrong })).toThrow(RangeError);
  });
});

describe('a full KV cache', () => {
  const requests = [
    { promptTokens: 150, tokens: 100 },
    { promptTokens: 150, tokens: 100 },
  ];

  // With 401 tokens the older request finds one more, and the younger one does not.
  it.each([400, 401])('of %i tokens preempts the request that began last, and computes it again', (kvTokens) => {
    const usage: number[] = [];
    const ample = run(EXACT, requests);
    const { times, scheduler } = run({ ...EXACT, kvTokens }, requests, ({ kvUsage }) => usage.push(kvUsage));
    expect([ample.scheduler.preemptions, scheduler.preemptions]).toEqual([0, 1]);
    // Both hold 200 tokens for their 51st, and then do not fit together.
    expect(times[1]!.slice(0, 51)).toEqual(near(ample.times[1]!.slice(0, 51)));
    expect(usage.slice(50, 52)).toEqual([400 / kvTokens, 201 / kvTokens]);
    // The older one is alone from then on, and the younger one waits for its end.
    expect(times[0]!.at(-1)).toBeLessThan(ample.times[0]!.at(-1)!);
    expect(times[1]![51]).toBeCloseTo(times[0]!.at(-1)! + 10 + 201 * 0.1, 6);
  });

  it('lets no later request begin before one that was preempted', () => {
    const { times, scheduler } = run({ ...EXACT, kvTokens: 400 }, [
      ...requests,
      { at: 1, promptTokens: 100, tokens: 1 },
    ]);
    expect(scheduler.preemptions).toBe(1);
    expect(times[1]![51]).toBeCloseTo(times[0]!.at(-1)! + 10 + 301 * 0.1, 6);
    expect(times[2]![0]).toBe(times[1]![51]);
  });

  it('is a cliff: a little more load costs much more time', () => {
    const settings = { ...EXACT, kvTokens: 4_000, maxNumBatchedTokens: 8_192 };
    const longestGap = (number: number): number => {
      const arrivals = Array.from({ length: number }, () => ({ promptTokens: 300, tokens: 100 }));
      return Math.max(...run(settings, arrivals).times.flatMap(gaps));
    };
    expect(longestGap(10)).toBeLessThan(60);
    expect(longestGap(11)).toBeGreaterThan(1_000);
  });

  it('lets every request end, however small the cache, and exceeds it never', () => {
    const arrivals = Array.from({ length: 40 }, (_, index) => ({
      at: index * 7,
      promptTokens: 1 + ((index * 37) % 60),
      tokens: 1 + ((index * 53) % 40),
    }));
    const usage: number[] = [];
    const small = { ...EXACT, kvTokens: 100, maxNumSeqs: 16, maxNumBatchedTokens: 16 };
    const { scheduler } = run(small, arrivals, ({ kvUsage }) => usage.push(kvUsage));
    expect(Math.max(...usage)).toBeLessThanOrEqual(1);
    expect(scheduler.preemptions).toBeGreaterThan(10);
  });
});

describe('what no model knows', () => {
  const stepsOf = (given: Partial<IterationSettings>): number[] => {
    const settings = { ...EXACT, tokenUs: 0, kvTokenUs: 0, jitter: DEFAULT_ITERATION.jitter, ...given };
    return gaps([0, ...run(settings, [{ promptTokens: 1, tokens: 2_000 }]).times[0]!]);
  };

  it('iterations vary by up to 5 %, and not in the mean', () => {
    const steps = stepsOf({});
    const [least, most] = [Math.min(...steps), Math.max(...steps)];
    expect(least).toBeGreaterThanOrEqual(9.5 - 1e-9);
    expect(most).toBeLessThanOrEqual(10.5 + 1e-9);
    expect(most - least).toBeGreaterThan(0.95);
    expect(steps.reduce((sum, one) => sum + one, 0) / steps.length).toBeCloseTo(10, 1);
  });

  it('the same seed repeats them, and another does not', () => {
    expect(stepsOf({ seed: 7 })).toEqual(stepsOf({ seed: 7 }));
    expect(stepsOf({ seed: 7 })).not.toEqual(stepsOf({ seed: 8 }));
  });

  it('the first requests are slow, and so is one that shares iterations with them', () => {
    const settings = { ...EXACT, tokenUs: 0, kvTokenUs: 0, slowRequests: 2, slowTimes: 3 };
    const { times } = run(settings, [
      { promptTokens: 1, tokens: 1 },
      { at: 100, promptTokens: 1, tokens: 2 },
      { at: 130, promptTokens: 1, tokens: 2 },
      { at: 200, promptTokens: 1, tokens: 1 },
    ]);
    expect(times).toEqual([[30], [130, 160], [160, 170], [210]]);
  });
});

it('settings of flags have defaults, and there are none without such a flag', () => {
  expect(iterationSettings({}, 1)).toBeUndefined();
  expect(iterationSettings({ stepMs: undefined }, 1)).toBeUndefined();
  expect(iterationSettings({ stepMs: 0 }, 3)).toEqual({ ...DEFAULT_ITERATION, seed: 3 });
  expect(iterationSettings({ kvTokens: 9, tokenUs: 2 }, 3)).toEqual({
    ...DEFAULT_ITERATION,
    ...{ kvTokens: 9, tokenUs: 2, seed: 3 },
  });
});

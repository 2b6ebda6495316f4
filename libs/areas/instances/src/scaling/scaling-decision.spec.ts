import { effectiveScaling, type ScalingSpec } from '@slipway/contracts';
import { describe, expect, it } from '@jest/globals';
import {
  decideScaling,
  initialReplicas,
  wakeBackOffSeconds,
  withinCapacity,
  type InitialSituation,
  type ScalingReason,
  type ScalingSituation,
} from './scaling-decision.js';

const SPEC: ScalingSpec = {
  min_replicas: 0,
  max_replicas: 4,
  target_in_flight: 4,
  scale_down_after_seconds: 300,
  idle_seconds: 600,
};

const situation = (rest: Partial<ScalingSituation> = {}): ScalingSituation => ({
  scaling: effectiveScaling(SPEC),
  replicas: 2,
  ready: 2,
  starting: 0,
  in_flight: 5,
  held: 0,
  expected_load: 0,
  waiting: null,
  kv_usage: null,
  idle_age_seconds: 0,
  ready_age_seconds: 10_000,
  start_seconds: 20,
  low_age_seconds: null,
  isAsleep: false,
  failure: null,
  failures: 0,
  failure_age_seconds: null,
  directions: 'both',
  isAwaited: false,
  ...rest,
});
const of = (rest: Partial<ScalingSituation>) => {
  const { replicas, reason } = decideScaling(situation(rest));
  return [replicas, reason];
};
const asleep = { isAsleep: true, replicas: 0, ready: 0, in_flight: 0, idle_age_seconds: 1_000 };

it('the number rises at once to the largest that a signal requires, but never above the maximum', () => {
  expect(of({ in_flight: 9 })).toEqual([3, 'in_flight']);
  expect(of({ in_flight: 9, waiting: 5 })).toEqual([4, 'waiting']);
  expect(of({ kv_usage: 0.86 })).toEqual([3, 'kv_usage']);
  expect(of({ kv_usage: 0.85 })).toEqual([2, null]);
  expect(of({ in_flight: 1_000 })).toEqual([4, 'in_flight']);
  expect(of({ in_flight: 5, held: 4 })).toEqual([3, 'in_flight']);
  expect(of({ replicas: 4, ready: 4, in_flight: 1_000, waiting: 50 })).toEqual([4, null]);
});

it('starting instances count as present, and reports of engines count only when all have started', () => {
  expect(of({ replicas: 3, ready: 1, starting: 2, in_flight: 12 })).toEqual([3, null]);
  expect(of({ replicas: 3, ready: 1, starting: 2, in_flight: 12, waiting: 8, kv_usage: 1 })).toEqual([3, null]);
  expect(of({ replicas: 2, ready: 1, starting: 1, in_flight: 16 })).toEqual([4, 'in_flight']);
});

it('the number falls by one after the entire time of low load, and only if the rest could have served that load', () => {
  const four = { replicas: 4, ready: 4, in_flight: 5 };
  expect(of({ ...four, low_age_seconds: 299 })).toEqual([4, null]);
  expect(of({ ...four, low_age_seconds: 300 })).toEqual([3, 'low_load']);
  expect(of({ ...four, low_age_seconds: 300, ready: 3, starting: 1 })).toEqual([4, null]);
  expect(decideScaling(situation({ replicas: 4, ready: 4, in_flight: 9 })).isLow).toBe(true);
  expect(decideScaling(situation({ replicas: 4, ready: 4, in_flight: 10 })).isLow).toBe(false);
  // 56 % of the capacity of two instances, which is too much for one.
  expect(decideScaling(situation({ in_flight: 4 })).isLow).toBe(true);
  expect(decideScaling(situation({ in_flight: 4, waiting: 1 })).isLow).toBe(false);
  expect(decideScaling(situation({ in_flight: 1, kv_usage: 0.5 })).isLow).toBe(false);
  const odd = { scaling: effectiveScaling({ ...SPEC, target_in_flight: 10 }) };
  expect(decideScaling(situation({ ...odd, in_flight: 11 })).isLow).toBe(false);
});

it('the load is ignored while an operation starts or stops instances, and no time of low load starts', () => {
  const none = { directions: 'none' } as const;
  expect(of({ in_flight: 100, ...none })).toEqual([2, null]);
  expect(of({ in_flight: 0, low_age_seconds: 400, ...none })).toEqual([2, null]);
  expect(of({ in_flight: 0, idle_age_seconds: 4_000, ...none })).toEqual([2, null]);
  expect(decideScaling(situation({ in_flight: 0, ...none })).isLow).toBe(false);
});

it('during a soak the number only rises, and the time of low load counts for what follows', () => {
  const up = { directions: 'up' } as const;
  const awake = effectiveScaling({ ...SPEC, min_replicas: 3 });
  expect(of({ in_flight: 9, ...up })).toEqual([3, 'in_flight']);
  expect(of({ scaling: awake, ...up })).toEqual([3, 'min_replicas']);
  expect(of({ in_flight: 0, low_age_seconds: 400, ...up })).toEqual([2, null]);
  expect(of({ in_flight: 0, idle_age_seconds: 4_000, ...up })).toEqual([2, null]);
  expect(of({ replicas: 9, ready: 9, in_flight: 20, ...up })).toEqual([9, null]);
  expect(decideScaling(situation({ in_flight: 0, ...up })).isLow).toBe(true);
});

it('a candidate keeps the instances that it would need for all requests of its deployment', () => {
  const candidate = { replicas: 4, ready: 4, in_flight: 1, isAwaited: true, low_age_seconds: 300 };
  expect(of({ ...candidate, expected_load: 10 })).toEqual([4, null]);
  expect(of({ ...candidate, expected_load: 9 })).toEqual([3, 'low_load']);
  expect(of({ ...candidate, replicas: 1, ready: 1, expected_load: 16 })).toEqual([1, null]);
});

it('a number that does not follow the load stays at the configured value', () => {
  const fixed = { scaling: effectiveScaling({ min_replicas: 2, max_replicas: 9 }) };
  expect(of({ ...fixed, in_flight: 1_000, waiting: 50, kv_usage: 1 })).toEqual([2, null]);
  expect(of({ ...fixed, in_flight: 0, idle_age_seconds: 1e9, low_age_seconds: 1e9 })).toEqual([2, null]);
  expect(of({ ...fixed, replicas: 5, ready: 5 })).toEqual([2, 'max_replicas']);
  expect(of({ ...fixed, replicas: 1, ready: 1 })).toEqual([2, 'min_replicas']);
});

it('a revision sleeps after the idle time, but not while a request or a start is in progress', () => {
  const idle = { in_flight: 0, idle_age_seconds: 600 };
  expect(of(idle)).toEqual([0, 'idle']);
  expect(of({ ...idle, idle_age_seconds: 599 })).toEqual([2, null]);
  expect(of({ ...idle, in_flight: 1 })).toEqual([2, null]);
  expect(of({ ...idle, held: 1 })).toEqual([2, null]);
  expect(of({ ...idle, ready: 1, starting: 1 })).toEqual([2, null]);
  // A qualification has woken it, and has sent no request yet.
  expect(of({ ...idle, isAwaited: true })).toEqual([2, null]);
  expect(of({ ...idle, scaling: effectiveScaling({ ...SPEC, min_replicas: 1 }) })).toEqual([2, null]);
});

it('the time of a start is no idle time, and until the first request after it the instance stays as long as it took', () => {
  const started = { replicas: 1, ready: 1, in_flight: 0, start_seconds: 20 };
  const left = { ...started, idle_age_seconds: 2_000 };
  expect(of({ ...left, ready_age_seconds: 599 })).toEqual([1, null]);
  expect(of({ ...left, ready_age_seconds: 600 })).toEqual([0, 'idle']);
  expect(of({ ...left, ready_age_seconds: 900, start_seconds: 901 })).toEqual([1, null]);
  expect(of({ ...left, ready_age_seconds: 901, start_seconds: 901 })).toEqual([0, 'idle']);
  // Its client has returned.
  expect(of({ ...started, idle_age_seconds: 600, ready_age_seconds: 700, start_seconds: 901 })).toEqual([0, 'idle']);
  // It was never ready, as with a lost node.
  expect(of({ ...left, ready: 0, ready_age_seconds: null })).toEqual([0, 'idle']);
});

it('a sleeping revision wakes one instance for any number of waiting requests, also while the deployment is being changed', () => {
  expect(of({ ...asleep, held: 50 })).toEqual([1, 'requests_held']);
  expect(of({ ...asleep, held: 50, directions: 'none' })).toEqual([1, 'requests_held']);
  expect(of({ ...asleep, held: 50, replicas: 1, starting: 1 })).toEqual([1, null]);
  expect(of(asleep)).toEqual([0, null]);
  const awake = effectiveScaling({ ...SPEC, min_replicas: 2 });
  expect(of({ ...asleep, scaling: awake })).toEqual([2, 'min_replicas']);
});

it('a revision sleeps again after a failed start, and waits 1, 2, 4 … 60 s before the next one', () => {
  expect(of({ ...asleep, replicas: 1, held: 50, failure: 'gpu_memory' })).toEqual([0, 'start_failed']);
  expect(of({ ...asleep, replicas: 1, failure: 'gpu_memory', directions: 'none' })).toEqual([0, 'start_failed']);
  // An operation that wants it judges the starts itself.
  expect(of({ ...asleep, replicas: 1, failure: 'gpu_memory', isAwaited: true })).toEqual([1, null]);
  const waits = [1, 2, 3, 4, 5, 6, 7, 50].map(wakeBackOffSeconds);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(of({ ...asleep, held: 1, failures: 3, failure_age_seconds: 3.9 })).toEqual([0, null]);
  expect(of({ ...asleep, held: 1, failures: 3, failure_age_seconds: 4 })).toEqual([1, 'requests_held']);
});

/**
 * Simulates the decisions on a virtual clock, with a sample for each second.
 * @param loadAt returns the number of requests, in flight or waiting
 */
function simulate(seconds: number, loadAt: (second: number) => number, spec = SPEC, startSeconds = 20) {
  let [replicas, isAsleep] = [0, true];
  let lowSince: number | null = null;
  let usedAt = -10_000;
  /** The time when each instance is ready. */
  let readyAt: number[] = [];
  /** The seconds with requests that an instance could serve at once. */
  const servedAt: number[] = [];
  const changes: { at: number; from: number; to: number; reason: ScalingReason }[] = [];
  for (let at = 0; at < seconds; at += 1) {
    const load = loadAt(at);
    if (load > 0) usedAt = at;
    const readySince = readyAt.filter((one) => one <= at);
    const ready = readySince.length;
    if (ready > 0) isAsleep = false;
    const decision = decideScaling(
      situation({
        scaling: effectiveScaling(spec),
        replicas,
        ready,
        starting: replicas - ready,
        in_flight: ready > 0 ? load : 0,
        held: ready > 0 ? 0 : load,
        idle_age_seconds: at - usedAt,
        ready_age_seconds: ready > 0 ? at - Math.max(...readySince) : null,
        start_seconds: startSeconds,
        low_age_seconds: lowSince === null ? null : at - lowSince,
        isAsleep,
      }),
    );
    if (load > 0 && ready > 0) servedAt.push(at);
    lowSince = decision.isLow ? (lowSince ?? at) : null;
    if (decision.reason === null) continue;
    const to = decision.replicas;
    changes.push({ at, from: replicas, to, reason: decision.reason });
    readyAt = [...readyAt.slice(0, to), ...Array<number>(Math.max(0, to - replicas)).fill(at + startSeconds)];
    replicas = to;
    if (to === 0) isAsleep = true;
  }
  return { changes, servedAt, reversals: reversalsOf(changes) };
}

/** Counts how often a change has the opposite direction of the change before it. */
function reversalsOf(changes: readonly { from: number; to: number }[]): number {
  const ways = changes.map(({ from, to }) => Math.sign(to - from));
  return ways.filter((way, index) => index > 0 && way !== ways[index - 1]).length;
}

/** Returns repeatable noise in [0, 1). */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it('the number follows a load that rises and falls, 0 → 1 → 4 → 0, with one change of direction', () => {
  const { changes, reversals } = simulate(3_600, (at) =>
    at < 60 ? 0 : at < 90 ? 2 : at < 900 ? 16 : at < 1_500 ? 3 : 0,
  );
  expect(changes.map(({ from, to, reason }) => `${from}→${to} ${reason}`)).toEqual([
    '0→1 requests_held',
    '1→4 in_flight',
    '4→3 low_load',
    '3→2 low_load',
    '2→1 low_load',
    '1→0 idle',
  ]);
  expect(reversals).toBe(1);
  // Each step down comes after five minutes, not before.
  expect(changes.slice(2, 5).map(({ at }) => at)).toEqual([1_200, 1_501, 1_802]);
});

it('a client that gives up at once and returns every 25 s finds the instance that its last request has started', () => {
  const spec = { ...SPEC, idle_seconds: 10 };
  const { servedAt, changes } = simulate(200, (at) => (at % 25 === 0 ? 1 : 0), spec, 20);
  expect(servedAt).toEqual([25, 75, 125, 175]);
  expect(changes.map(({ at, to }) => [at, to]).slice(0, 3)).toEqual([
    [0, 1],
    [35, 0],
    [50, 1],
  ]);
  // If nothing had come back, it would have stayed for the time of its start.
  expect(simulate(200, (at) => (at === 0 ? 1 : 0), spec, 20).changes.map(({ at }) => at)).toEqual([0, 40]);
});

it('the number rises and falls in half an hour of a noisy load, with one change of direction', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = noise(seed);
    const loadAt = (at: number) =>
      at < 60 || at >= 900 ? 0 : Math.floor((at < 90 ? 1 : at < 600 ? 12 : 2) + 4 * random());
    const { changes, reversals } = simulate(1_800, loadAt);
    const most = Math.max(...changes.map(({ to }) => to));
    const last = changes.at(-1);
    expect({ seed, reversals, most, last: [last?.to, last?.reason] }).toEqual({
      seed,
      reversals: 1,
      most: 4,
      last: [0, 'idle'],
    });
  }
});

it.each([
  ['steady at the edge of one instance', (random: () => number) => () => 3 + Math.floor(random() * 3)],
  ['steady at 60 % of two', (random: () => number) => () => 4 + Math.floor(random() * 2)],
  ['noise about three', (random: () => number) => () => Math.floor(6 + random() * 6)],
  ['a wave of four minutes', (random: () => number) => (at: number) => 8 + 7 * Math.sin(at / 38) + random()],
  ['bursts of ten seconds each minute', (random: () => number) => (at: number) => (at % 60 < 10 ? 14 : 1 + random())],
])('the number does not flap in 30 minutes of %s', (_name, profile) => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const load = profile(noise(seed));
    const { reversals } = simulate(1_800, (at) => Math.max(0, Math.floor(load(at))));
    expect({ seed, reversals }).toEqual({ seed, reversals: 0 });
  }
});

describe('the initial number of instances of a revision', () => {
  const beginning = (rest: Partial<InitialSituation> = {}): InitialSituation => ({
    scaling: { min_replicas: 1, max_replicas: 4, target_in_flight: 2 },
    override: null,
    baseline: 0,
    running: 0,
    ...rest,
  });
  const of = (rest: Partial<InitialSituation>, capacity = Number.POSITIVE_INFINITY) =>
    withinCapacity(initialReplicas(beginning(rest)), capacity);

  it("is the revision's own minimum if it takes over no traffic, and one if that minimum is zero", () => {
    expect(of({})).toBe(1);
    expect(of({ scaling: { min_replicas: 3 } })).toBe(3);
    expect(of({ scaling: { min_replicas: 0, max_replicas: 4, target_in_flight: 2 } })).toBe(1);
  });

  it('equals that of the revisions whose traffic it takes over, up to its own maximum', () => {
    expect(of({ baseline: 3 })).toBe(3);
    expect(of({ baseline: 9 })).toBe(4);
    expect(of({ baseline: 9, scaling: { min_replicas: 2, max_replicas: 6 } })).toBe(2);
    expect(of({ baseline: 1, scaling: { min_replicas: 2, max_replicas: 6, target_in_flight: 2 } })).toBe(2);
  });

  it('is bounded and raised by the overrides of its deployment', () => {
    expect(of({ baseline: 9, override: { max_replicas: 7 } })).toBe(7);
    expect(of({ baseline: 9, override: { max_replicas: 2 } })).toBe(2);
    expect(of({ override: { min_replicas: 3 } })).toBe(3);
    expect(of({ scaling: { min_replicas: 3 }, override: { min_replicas: 1 } })).toBe(1);
  });

  it("is reduced to the free capacity, but never below the revision's own minimum", () => {
    expect(of({ baseline: 4 }, 2)).toBe(2);
    expect(of({ baseline: 4 }, 0)).toBe(1);
    expect(of({ baseline: 4 }, -3)).toBe(1);
    expect(of({ scaling: { min_replicas: 3 } }, 1)).toBe(3);
    // A minimum that only the deployment sets does not refuse a rollout.
    expect(of({ override: { min_replicas: 9 } }, 2)).toBe(2);
  });

  it('is at least the number that already runs', () => {
    expect(of({ running: 3 }, 0)).toBe(3);
    expect(of({ running: 3, baseline: 4 }, 4)).toBe(4);
    expect(of({ running: 6, baseline: 4 })).toBe(6);
  });
});

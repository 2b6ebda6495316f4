import { describe, expect, it } from '@jest/globals';
import { inputOf, recordsOf, type Service } from '../test/records.js';
import { diagnose } from './diagnose.js';
import type { DiagnosisInput, Goal } from './types.js';

/** Its times rise with the load: 100 ms and 10 ms alone, and twice as much with ten requests more. */
const service: Service = {
  firstTokenMs: (load) => 100 * load,
  perTokenMs: (load) => 10 * (1 + (load - 1) / 10),
  tokens: 550,
  // Quiet at first, busy in the last half hour.
  loadIn: (minute) => (minute < 90 ? 1 + (minute % 6) * 2 : 14),
  requestsPerMinute: 60,
  minutes: 120,
};
const ttft: Goal = { metric: 'ttft_ms', stat: 'p95', threshold: 500 };
const only = (changes: Partial<Service>, more: Partial<DiagnosisInput> = {}) => {
  const diagnosis = diagnose(inputOf(recordsOf({ ...service, ...changes }), more));
  return { ...diagnosis, goal: diagnosis.goals[0]! };
};

describe('the cause', () => {
  it('is met if the goal is', () => {
    const { goal } = only({ loadIn: () => 2 });
    expect(goal).toMatchObject({ cause: 'met', goal: ttft });
    expect(goal.value?.value).toBeGreaterThan(150);
    expect(goal.message).toMatch(/^ttft_ms p95 is 2\d\d ms, limit 500 ms\. The goal is met\./);
  });

  it('is load_dependent if a lower load meets the goal', () => {
    const { goal, needed } = only({});
    expect(goal.cause).toBe('load_dependent');
    expect(goal.idle?.value).toBeGreaterThan(90);
    expect(needed).toBeGreaterThan(1);
    expect(goal.predicted!.value).toBeLessThan(500);
    expect(goal.replicas).toEqual({ now: 1, needed, atRate: 1 });
    expect(goal.message).toMatch(
      /On an idle instance it is 1\d\d ms .*: the rest is waiting\. \d replicas are enough up to 1 requests\/s: predicted/,
    );
  });

  it('is intrinsic if a request that is alone misses the goal', () => {
    const { goal, needed } = only({ firstTokenMs: (load) => 700 * load });
    expect(goal).toMatchObject({ cause: 'intrinsic', replicas: { needed: null } });
    expect(goal.predicted).toBeNull();
    expect(goal.message).toContain('Even on an idle instance it is');
    expect(needed).toBeNull();
  });

  it('is unknown if the low loads were never seen', () => {
    const { goal } = only({ loadIn: () => 14 });
    expect(goal).toMatchObject({ cause: 'unknown', because: 'never_seen', idle: null });
    expect(goal.message).toContain('the lowest load that was seen is');
  });

  it('is errors if the latency is missed only together with failures', () => {
    const { goal } = only({
      loadIn: (minute) => (minute >= 105 ? 14 : 2),
      failuresIn: (minute) => (minute >= 105 ? 0.4 : 0),
    });
    expect(goal.cause).toBe('errors');
    expect(goal.message).toMatch(/Failures explain it \(\d+ failed answers, 0 failed connections\)/);
  });

  it('is errors for a missed share of failures', () => {
    const goals: Goal[] = [{ metric: 'error_rate', stat: 'rate', threshold: 0.01 }];
    expect(only({ failuresIn: () => 0.05 }, { goals }).goal).toMatchObject({ cause: 'errors' });
    expect(only({ failuresIn: () => 0.005 }, { goals }).goal).toMatchObject({ cause: 'met' });
  });

  it('is starting if only requests of new instances miss it', () => {
    const { goal } = only({ loadIn: () => 2, startingIn: (minute) => (minute % 8 === 0 ? 10 : 1) });
    expect(goal.cause).toBe('starting');
  });

  it.each([
    ['too few samples', { requestsPerMinute: 2 }, 'samples'],
    ['samples of a short time', { requestsPerMinute: 0 }, 'samples'],
  ] as const)('is unknown with %s', (_, changes, because) => {
    expect(only(changes).goal).toMatchObject({ cause: 'unknown', because });
  });

  it('is unknown if the limit is within the interval', () => {
    const { goal } = only({ loadIn: () => 3.85, requestsPerMinute: 10 });
    expect(goal).toMatchObject({ cause: 'unknown', because: 'confidence' });
  });

  it('is unknown if the samples end half-way through the window', () => {
    const records = recordsOf(service);
    const quiet = recordsOf({ ...service, requestsPerMinute: 0 });
    const window = [...records.slice(-30, -15), ...quiet.slice(-15)];
    expect(diagnose({ ...inputOf(records), window }).goals[0]).toMatchObject({ cause: 'unknown', because: 'duration' });
  });
});

describe('the number of replicas', () => {
  it('is not computed if the caches of engines are nearly full', () => {
    const { goal, needed } = only({ kvUsage: 0.9 });
    expect(goal).toMatchObject({ cause: 'load_dependent', because: 'cache_full', predicted: null });
    expect(needed).toBeNull();
    expect(goal.message).toContain('85 % full');
  });

  it('is not computed if the present one should be enough by what arrived', () => {
    const { goal } = only({ tokens: 50 });
    expect(goal).toMatchObject({ cause: 'load_dependent', because: 'contradicted', replicas: { needed: null } });
  });

  it('is not computed if the requests became longer', () => {
    const before = recordsOf({ ...service, minutes: 90 });
    const after = recordsOf({ ...service, tokens: 1_100 }).slice(-30);
    expect(diagnose(inputOf([...before, ...after])).goals[0]).toMatchObject({ because: 'tokens_moved' });
  });

  it('follows the declared traffic if that is larger than the observed one', () => {
    const [observed, declared] = [only({}).needed!, only({}, { declared: { requestRate: 6 } })];
    expect(declared.needed).toBeGreaterThan(observed);
    expect(declared.workload.moved).toEqual(['requestRate']);
    expect(only({}, { declared: { concurrency: 40 } }).needed).toBeGreaterThan(observed);
  });

  it('serves the strictest goal', () => {
    const both = [ttft, { metric: 'itl_ms', stat: 'p95', threshold: 13 }] as Goal[];
    expect(only({}, { goals: both }).needed).toBeGreaterThan(only({}).needed!);
  });

  it('is larger if sessions bind requests to instances', () => {
    const records = recordsOf(service);
    const bound = records.map((record) => ({ ...record, sessionArrivals: record.arrivals }));
    expect(diagnose(inputOf(bound)).needed).toBeGreaterThanOrEqual(diagnose(inputOf(records)).needed!);
  });
});

it('names few identical services with a clear cause differently', () => {
  const causes = Array.from(
    { length: 12 },
    (_, seed) => diagnose(inputOf(recordsOf(service, seed + 1))).goals[0]!.cause,
  );
  expect(causes.filter((cause) => cause !== 'load_dependent')).toEqual([]);
});

it('calls a service at four fifths of its limit intrinsic in no case, and one 25 % beyond it in nearly all', () => {
  const intrinsic = (firstTokenMs: number) =>
    Array.from({ length: 12 }, (_, seed) => {
      const records = recordsOf({ ...service, firstTokenMs: (load) => firstTokenMs * load }, seed + 1);
      return diagnose(inputOf(records)).goals[0]!.cause === 'intrinsic';
    }).filter(Boolean).length;
  // Half of the values of bucket 1 have a load of up to 1.41, and values vary by a fifth.
  expect(intrinsic(250)).toBe(0);
  expect(intrinsic(600)).toBeGreaterThan(10);
});

it('needs at most 100 ms of processor time for a week', () => {
  const recent = recordsOf({ ...service, minutes: 360 });
  const hour = recent.slice(0, 60);
  const weeks = Array.from({ length: 7 * 24 }, (_, index) => ({
    ...hour[index % hour.length]!,
    seconds: 3_600 as const,
    at: new Date(hour[0]!.at.getTime() - (168 - index) * 3_600_000),
  }));
  const input = inputOf([...weeks, ...recent]);
  diagnose(input);
  const before = process.cpuUsage();
  diagnose(input);
  const { user } = process.cpuUsage(before);
  expect(user / 1_000).toBeLessThan(100);
});

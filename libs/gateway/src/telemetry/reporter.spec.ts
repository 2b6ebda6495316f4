import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NamedSql, PassportSighting, QueryClient, StatsWindow } from '@slipway/dataplane';
import { SILENT_LOG } from '../log.js';
import { DatabaseClock } from '../postgres/database-clock.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { SnapshotRoute, Snapshot } from '../snapshot/snapshot.js';
import type { TokenBook } from '../tokens/token-book.js';
import type { Backends } from '../upstream/backends.js';
import type { AttemptRecord } from './measurement.js';
import { Recorder } from './recorder.js';
import { Reporter } from './reporter.js';
import { UsageBook } from './usage.js';

const REPORT_MS = 200;
const good: AttemptRecord = {
  class: 'ok',
  isRetried: false,
  e2eMs: 1,
  ttftMs: null,
  isStream: false,
  metering: { tokensIn: 0, tokensOut: 0, firstTokenAt: null, itlMs: null, longestGapMs: null },
  load: { mean: 1, untilFirstToken: null, aloneMs: null, isJoined: false },
  instances: 1,
};

interface ExecutedStatement {
  name: string;
  values: any[];
}

const START = Date.UTC(2026, 0, 1);
/** The clock of Postgres agrees with the gateway's wall clock, unless a test sets it. */
let postgresNow: () => number;
let told: ExecutedStatement[];
/** Names of the statements that fail for now. */
let failing: Set<string>;
let followedByThem: number;
let inFlight: Map<string, number>;
let uses: Map<string, number>;
let held: Map<string, number>;
let atInstances: Record<string, number>;
let silent: Record<string, number>;
let routes: Map<string, SnapshotRoute>;
let sightings: PassportSighting[];
let recorder: Recorder;
let usage: UsageBook;
let reporter: Reporter;

const db: QueryClient = {
  query: async <R>({ name }: NamedSql, values: unknown[] = []): Promise<R[]> => {
    told.push({ name, values });
    if (failing.has(name)) throw new Error('Postgres is away');
    if (name === 'dataplane_report') return [{ now_ms: postgresNow() }] as R[];
    return (name === 'dataplane_followed_count' ? [{ total: followedByThem }] : []) as R[];
  },
};

beforeEach(() => {
  // `performance.now` follows the other fake clocks, and is 0 when a process starts.
  jest.useFakeTimers({ now: START });
  postgresNow = () => START + performance.now();
  told = [];
  failing = new Set();
  followedByThem = 0;
  [inFlight, uses, held, atInstances, silent] = [new Map(), new Map(), new Map(), {}, {}];
  routes = new Map();
  sightings = [];
  const clock = new DatabaseClock();
  recorder = new Recorder('gw', undefined, clock);
  usage = new UsageBook('gw', undefined, clock);
  const sessions = {
    takeUnwritten: () => sightings.splice(0),
    putBack: (back: PassportSighting[]) => sightings.unshift(...back),
  };
  const backends = {
    get: (id: string) => (inFlight.has(id) ? {} : undefined),
    *[Symbol.iterator]() {
      for (const [id, count] of inFlight)
        yield {
          spec: { id, tenantId: 'ten' },
          inFlight: count,
          uses: uses.get(id) ?? 0,
          queue: { size: held.get(id) ?? 0 },
          inFlightByInstance: atInstances,
          silentByInstance: () => silent,
        };
    },
  };
  reporter = new Reporter(
    db,
    'gw',
    recorder,
    usage,
    sessions as unknown as SessionBook,
    { routes } as unknown as Snapshot,
    backends as unknown as Backends,
    { noteUses: () => db.query({ name: 'note uses', text: '' }) } as unknown as TokenBook,
    REPORT_MS,
    SILENT_LOG,
    clock,
  );
});
afterEach(async () => {
  failing.clear();
  await reporter.close();
  jest.useRealTimers();
});

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
/** Returns the statements since the last call, without heartbeats that carry nothing new. */
const news = (): ExecutedStatement[] =>
  told.splice(0).filter(({ name, values }) => name !== 'dataplane_report' || values[2] !== '[]' || values[3] !== '[]');
const reports = (): { followed: unknown[]; inFlight: unknown[] }[] =>
  news()
    .filter(({ name }) => name === 'dataplane_report')
    .map(({ values }) => ({ followed: JSON.parse(values[2]), inFlight: JSON.parse(values[3]) }));
const beats = (): number => told.splice(0).filter(({ name }) => name === 'dataplane_report').length;
const windowsIn = ({ values }: ExecutedStatement): StatsWindow[] => JSON.parse(values[0]) as StatsWindow[];
const route = (id: string, generation: number): SnapshotRoute =>
  ({ deployment_id: id, tenant_id: 'ten', generation }) as unknown as SnapshotRoute;
const count = (id: string, n: number, more = {}) => ({
  revision_id: id,
  tenant_id: 'ten',
  in_flight: n,
  held: 0,
  is_used: n > 0,
  instances: {},
  ...more,
});
const follows = (id: string, generation: number) => ({ deployment_id: id, tenant_id: 'ten', generation });

/** Finds in `told` where windows were stored, and where their second was claimed to be complete. */
function storedAndClaimed(): { stored: number; claims: number[] } {
  const stored = told.findIndex(({ name }) => name === 'dataplane_write_windows');
  const [window] = windowsIn(told[stored] as ExecutedStatement);
  const end = Date.parse((window as StatsWindow).window_start) + 1_000;
  const isClaim = ({ name, values }: ExecutedStatement): boolean =>
    name === 'dataplane_report' && values[1]?.getTime() >= end;
  return { stored, claims: told.flatMap((one, at) => (isClaim(one) ? [at] : [])) };
}

it('claims that statistics are complete only after they are stored', async () => {
  recorder.add('rev', 'ten', good);
  for (let flush = 1; flush <= 10; flush += 1) {
    // Something to report each time, also in the flush that stores the second.
    inFlight.set('rev', flush);
    await pass(REPORT_MS);
  }
  const { stored, claims } = storedAndClaimed();
  expect(claims[0]).toBe(stored + 1);
});

it('keeps windows that could not be stored, claims nothing meanwhile, and stores each once', async () => {
  await pass(REPORT_MS);
  failing.add('dataplane_write_windows');
  recorder.add('rev', 'ten', good);
  await pass(1_000);
  const until = told.findLast(({ name }) => name === 'dataplane_report')!.values[1];
  told.length = 0;
  await pass(3_000);
  // It is alive, and claims nothing.
  const claimed = told.filter(({ name }) => name === 'dataplane_report').map(({ values }) => values[1]);
  expect(claimed.length).toBeGreaterThan(1);
  expect(new Set(claimed)).toEqual(new Set([until]));
  told.length = 0;
  recorder.add('rev', 'ten', good);
  failing.clear();
  await pass(2_000);
  const stored = told.filter(({ name }) => name === 'dataplane_write_windows').flatMap(windowsIn);
  expect(stored.map(({ ok }) => ok)).toEqual([1, 1]);
  expect(new Set(stored.map((window) => window.window_start)).size).toBe(2);
  expect(beats()).toBeGreaterThan(0);
});

it('drops a row that Postgres will never accept, and no other', async () => {
  for (let n = 0; n < 20; n += 1) recorder.add(`rev_${n}`, 'ten', good);
  const query = db.query.bind(db);
  const taken: string[] = [];
  db.query = <R>(statement: NamedSql, values: unknown[] = []): Promise<R[]> => {
    if (statement.name !== 'dataplane_write_windows') return query<R>(statement, values);
    const ids = (JSON.parse(values[0] as string) as StatsWindow[]).map((window) => window.revision_id);
    if (ids.includes('rev_7')) return Promise.reject(Object.assign(new Error('out of range'), { code: '22003' }));
    taken.push(...ids);
    return query<R>(statement, values);
  };
  await pass(2_000);
  db.query = query;
  expect(taken.sort()).toEqual(
    Array.from({ length: 20 }, (_, n) => `rev_${n}`)
      .filter((id) => id !== 'rev_7')
      .sort(),
  );
  expect(recorder.lostWindows).toBe(1);
});

it('gives back only the parts of a batch that were not stored', async () => {
  for (let n = 0; n < 501; n += 1) recorder.add(`rev_${n}`, 'ten', good);
  let parts = 0;
  const query = db.query.bind(db);
  db.query = <R>(statement: NamedSql, values?: unknown[]): Promise<R[]> => {
    if (statement.name === 'dataplane_write_windows' && (parts += 1) === 2) failing.add(statement.name);
    return query<R>(statement, values);
  };
  await pass(1_000);
  db.query = query;
  failing.clear();
  await pass(REPORT_MS);
  const sizes = told.filter(({ name }) => name === 'dataplane_write_windows').map((one) => windowsIn(one).length);
  expect(sizes).toEqual([500, 1, 1]);
});

it('reports counts when they change, repeats unchanged ones, and reports 0 for backends that are gone', async () => {
  inFlight.set('rev_1', 2).set('rev_2', 0);
  await pass(REPORT_MS);
  expect(reports()).toEqual([{ followed: [], inFlight: [count('rev_1', 2)] }]);
  await pass(1_800);
  expect(reports()).toEqual([]);
  // Readers trust a count for five seconds.
  await pass(REPORT_MS);
  expect(reports()).toEqual([{ followed: [], inFlight: [count('rev_1', 2)] }]);
  inFlight.set('rev_1', 1).set('rev_2', 3);
  await pass(REPORT_MS);
  expect(reports()).toEqual([{ followed: [], inFlight: [count('rev_1', 1), count('rev_2', 3)] }]);
  inFlight.delete('rev_2');
  inFlight.set('rev_1', 0);
  await pass(REPORT_MS);
  expect(reports()).toEqual([{ followed: [], inFlight: [count('rev_1', 0), count('rev_2', 0)] }]);
  await pass(4_000);
  expect(reports()).toEqual([]);
});

it('reports when requests of an instance fall silent, and when they do not any more', async () => {
  inFlight.set('rev', 1);
  atInstances = { ins_leaves: 1 };
  await pass(REPORT_MS);
  const busy = count('rev', 1, { instances: atInstances });
  expect(reports()).toEqual([{ followed: [], inFlight: [busy] }]);
  silent = { ins_leaves: 1 };
  await pass(REPORT_MS);
  expect(reports()).toEqual([{ followed: [], inFlight: [{ ...busy, silent }] }]);
  silent = {};
  await pass(REPORT_MS);
  expect(reports()).toEqual([{ followed: [], inFlight: [busy] }]);
});

it('reports waiting requests, requests by instance, and uses that have already ended, until Postgres has stored them', async () => {
  inFlight.set('rev', 0);
  held.set('rev', 50);
  atInstances = { ins_leaves: 1 };
  await pass(REPORT_MS);
  const waiting = count('rev', 0, { held: 50, is_used: true, instances: { ins_leaves: 1 } });
  expect(reports()[0]?.inFlight).toEqual([waiting]);
  // As many as before, at another instance.
  atInstances = { ins_stays: 1 };
  await pass(REPORT_MS);
  expect(reports()[0]?.inFlight).toEqual([{ ...waiting, instances: { ins_stays: 1 } }]);
  held.delete('rev');
  atInstances = {};
  uses.set('rev', 1);
  failing.add('dataplane_report');
  await pass(REPORT_MS);
  failing.clear();
  told.length = 0;
  await pass(REPORT_MS);
  expect(reports()[0]?.inFlight).toEqual([count('rev', 0, { is_used: true })]);
  await pass(4_000);
  expect(reports()).toEqual([]);
});

it('reports a change of counts again if Postgres did not store it', async () => {
  inFlight.set('rev', 1);
  await pass(REPORT_MS);
  inFlight.set('rev', 0);
  failing.add('dataplane_report');
  await pass(REPORT_MS);
  failing.clear();
  told.length = 0;
  await pass(REPORT_MS);
  expect(reports()[0]?.inFlight).toEqual([count('rev', 0)]);
});

it('reports at once that it follows a route, together with the current counts', async () => {
  inFlight.set('rev', 4);
  reporter.onRoute(route('dep', 7));
  await pass(0);
  expect(reports()).toEqual([{ followed: [follows('dep', 7)], inFlight: [count('rev', 4)] }]);
  await pass(REPORT_MS);
  expect(reports()).toEqual([]);
});

it('repeats the report of a route until Postgres has stored it, and forgets no newer one meanwhile', async () => {
  failing.add('dataplane_report');
  reporter.onRoute(route('dep', 1));
  await pass(REPORT_MS);
  failing.clear();
  told.length = 0;
  let overtake = (): void => reporter.onRoute(route('dep', 2));
  const query = db.query.bind(db);
  db.query = <R>(statement: NamedSql, values?: unknown[]): Promise<R[]> => {
    const answer = query<R>(statement, values);
    if (statement.name === 'dataplane_report') {
      overtake();
      overtake = () => undefined;
    }
    return answer;
  };
  await pass(2 * REPORT_MS);
  db.query = query;
  expect(reports().map(({ followed }) => followed)).toEqual([[follows('dep', 1)], [follows('dep', 2)]]);
});

it('reports everything it follows when Postgres is back, and when other gateways took it for dead', async () => {
  routes.set('dep_1', route('dep_1', 1)).set('dep_2', route('dep_2', 2));
  failing.add('dataplane_report');
  await pass(REPORT_MS);
  failing.clear();
  told.length = 0;
  await pass(1_000);
  const everything = [follows('dep_1', 1), follows('dep_2', 2)];
  expect(reports().map(({ followed }) => followed)).toEqual([everything]);
  followedByThem = 2;
  await pass(60_000);
  expect(reports()).toEqual([]);
  followedByThem = 1;
  await pass(60_000 + REPORT_MS);
  expect(reports().map(({ followed }) => followed)).toEqual([everything]);
});

it('sends its heartbeat each second, even if the clock is set back by an hour', async () => {
  await pass(REPORT_MS);
  expect(beats()).toBe(1);
  await pass(3_000);
  expect(beats()).toBe(3);
  jest.setSystemTime(Date.now() - 3_600_000);
  await pass(3_000);
  expect(beats()).toBe(3);
});

it('keeps sightings that could not be written, and counts them once', async () => {
  sightings = [{ id: 'cp' } as PassportSighting];
  failing.add('dataplane_write_sightings');
  await pass(REPORT_MS);
  expect(sightings).toHaveLength(1);
  failing.clear();
  told.length = 0;
  await pass(5 * REPORT_MS);
  expect(told.filter(({ name }) => name === 'dataplane_write_sightings')).toHaveLength(1);
});

it('notes uses and tidies up periodically', async () => {
  await pass(60_000);
  const names = told.map(({ name }) => name);
  expect(names.filter((name) => name === 'note uses')).toHaveLength(6);
  expect(names.filter((name) => name === 'dataplane_forget_gateways')).toHaveLength(1);
});

it('stores the second that is still open, then claims it, then removes itself', async () => {
  await pass(REPORT_MS);
  recorder.add('rev', 'ten', good);
  inFlight.set('rev', 1);
  told.length = 0;
  await reporter.close();
  const { stored, claims } = storedAndClaimed();
  expect(claims[0]).toBeGreaterThan(stored);
  expect(told.at(-1)).toEqual({ name: 'dataplane_forget_gateways', values: ['gw'] });
  const before = told.length;
  await pass(10_000);
  expect(told).toHaveLength(before);
});

const HOUR_MS = 3_600_000;
const spent = (name: string): { window_start: string }[] =>
  told.filter((one) => one.name === name).flatMap(({ values }) => JSON.parse(values[0]) as { window_start: string }[]);
const used = {
  tenantId: 'ten',
  tokenId: 'tok',
  revisionId: 'rev',
  instanceId: 'ins',
  slug: null,
  outcome: 'ok',
  upstreamFaults: 0,
  tokensIn: 1,
  tokensOut: 1,
  durationMs: 1,
  attempts: 1,
  inFlightSum: 1,
} as const;

describe.each([
  ['an hour ahead', HOUR_MS],
  ['an hour behind', -HOUR_MS],
  ['500 ms ahead', 500],
])('with a wall clock that is %s', (_name, wrongMs) => {
  /** A second of Postgres that a request in it is counted in, with the tolerance of windows from before the first report. */
  const near = (at: number, widthMs: number) => (window: { window_start: string }) =>
    Math.abs(Date.parse(window.window_start) - Math.floor(at / widthMs) * widthMs) <= widthMs;
  const trueNow = (): number => START - wrongMs + performance.now();
  beforeEach(() => {
    postgresNow = trueNow;
  });

  it('places windows at the time of Postgres, also those that began before it was known', async () => {
    recorder.add('rev', 'ten', good);
    const first = trueNow();
    await pass(5_000);
    recorder.add('rev', 'ten', good);
    const second = trueNow();
    await pass(2_000);
    const windows = spent('dataplane_write_windows');
    expect(windows).toHaveLength(2);
    expect(near(first, 1_000)(windows[0]!)).toBe(true);
    expect(Date.parse(windows[1]!.window_start)).toBe(Math.floor(second / 1_000) * 1_000);
    const claims = told.filter(({ name, values }) => name === 'dataplane_report' && values[1] !== null);
    expect(Math.abs(claims.at(-1)!.values[1].getTime() - trueNow())).toBeLessThanOrEqual(2_000);
  });

  it('places what was counted while Postgres was away since the start', async () => {
    failing.add('dataplane_report');
    const counted: number[] = [];
    for (let second = 0; second < 30; second += 1) {
      counted.push(trueNow());
      recorder.add('rev', 'ten', good);
      usage.add(used);
      await pass(1_000);
    }
    expect(spent('dataplane_write_windows')).toEqual([]);
    failing.clear();
    await pass(12_000);
    const windows = spent('dataplane_write_windows') as StatsWindow[];
    expect(windows.reduce((sum, { ok }) => sum + ok, 0)).toBe(30);
    expect(new Set(windows.map(({ window_start: start }) => start)).size).toBe(windows.length);
    windows.forEach((window, n) => expect(near(counted[n]!, 1_000)(window)).toBe(true));
    const rows = spent('dataplane_write_usage') as unknown as { ok: number; window_start: string }[];
    expect(rows.reduce((sum, { ok }) => sum + ok, 0)).toBe(30);
    expect(new Set(rows.map(({ window_start: start }) => start)).size).toBe(rows.length);
    expect(near(counted[0]!, 10_000)(rows[0]!)).toBe(true);
  });

  it('places the last windows of a gateway that ends before its first report', async () => {
    recorder.add('rev', 'ten', good);
    const at = trueNow();
    await reporter.close();
    const windows = spent('dataplane_write_windows');
    expect(windows.map(near(at, 1_000))).toEqual([true]);
  });
});

it('counts on where it was when its wall clock is set, and keeps the last measurement while Postgres is away', async () => {
  await pass(3_000);
  failing.add('dataplane_report');
  jest.setSystemTime(Date.now() + HOUR_MS);
  recorder.add('rev', 'ten', good);
  const at = postgresNow();
  await pass(3_000);
  jest.setSystemTime(Date.now() - 2 * HOUR_MS);
  recorder.add('rev', 'ten', good);
  await pass(3_000);
  failing.clear();
  await pass(1_000);
  const windows = spent('dataplane_write_windows').map(({ window_start: start }) => Date.parse(start));
  expect(windows).toEqual([at, at + 3_000].map((ms) => Math.floor(ms / 1_000) * 1_000));
});

it('writes each second once and loses no count when the clock of Postgres is set back', async () => {
  await pass(3_000);
  recorder.add('rev', 'ten', good);
  await pass(2_000);
  const before = postgresNow;
  postgresNow = () => before() - 5_000;
  for (let second = 0; second < 10; second += 1) {
    recorder.add('rev', 'ten', good);
    await pass(1_000);
  }
  await reporter.close();
  const windows = spent('dataplane_write_windows') as StatsWindow[];
  expect(windows.reduce((sum, { ok }) => sum + ok, 0)).toBe(11);
  expect(new Set(windows.map(({ window_start: start }) => start)).size).toBe(windows.length);
});

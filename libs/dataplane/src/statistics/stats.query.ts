import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { emptyHistogram, mergeHistograms, type Histogram } from './histogram.js';
import { loadsParts, mergeLoads, type RecordedLoads, type Loads } from './load.js';
import { deletionOf } from './old-windows.js';
import type { NamedSql, QueryClient } from '../sql.js';

/** Attempts by outcome. An attempt is one try on one instance: a retried request counts once per attempt. */
export interface AttemptCounts {
  ok: number;
  /** Refused by the engine with another 4xx than those of `overloaded`. */
  client_error: number;
  /** Answered 408, 425 or 429 by the engine. */
  overloaded: number;
  /** Failed answers, also inside of a 200. */
  server_error: number;
  connect_error: number;
  /** The client left before the first byte (before the end, if the answer is not streamed) after 2 s or more. */
  abandoned: number;
  /** The client left earlier, or after content, which says nothing about the revision. */
  cancelled: number;
  /** Those of `server_error` and `connect_error` that no client saw, because another attempt followed. */
  retried: number;
  /** Those of `overloaded` that no client saw, because another attempt followed. */
  overloaded_retried: number;
}

/**
 * Requests of one bucket of callers, as their clients saw them: all, and those that failed, were refused, found the
 * engine overloaded, and were abandoned. Cancelled requests are left out.
 */
export type CallerCounts = [
  requests: number,
  failed: number,
  clientError: number,
  overloaded: number,
  abandoned: number,
];

/**
 * Requests by caller (token and session). Callers are hashed into `CALLER_BUCKETS` buckets, so that a window stays
 * small. Buckets without requests are left out.
 */
export type Callers = Record<string, CallerCounts>;

export const CALLER_BUCKETS = 64;

/** Waits for the first byte (for the end, if the answer is not streamed) in milliseconds, by how they ended. */
export interface Waits {
  /** The client left. Only waits of 2 s or more. */
  left: Histogram;
  /** Requests that still waited when the window closed; how long until then. Not additive over windows. */
  waiting: Histogram;
  /** Of those, the requests that waited 2 s or more, by bucket of `Callers`. Absent in windows of old gateways. */
  callers?: Record<string, number>;
}

/** A histogram for each metric of `libs/contracts` that is a distribution. */
export type Histograms = Record<Distribution, Histogram>;

export interface RequestStats extends Histograms {
  counts: AttemptCounts;
  /** Attempts in `counts.ok` that were streams. */
  streamed: number;
  tokens_in: number;
  tokens_out: number;
  /** Values by the load of the instances. Values of the histograms that are missing here have an unknown load. */
  loads: Loads;
  /** Absent if a gateway did not report them. */
  callers?: Callers;
  /** Absent if a gateway did not report them. `waiting` is that of the newest window of each gateway. */
  waits?: Waits;
  /** Histograms of equal parts of the time, without empty ones: they show how much the values of one moment share. */
  slices?: readonly Histograms[];
}

const COUNTED = [
  'ok',
  'client_error',
  'overloaded',
  'server_error',
  'connect_error',
  'abandoned',
  'cancelled',
  'retried',
  'overloaded_retried',
] as const satisfies readonly (keyof AttemptCounts)[];

const SLICES = 20;

/**
 * Counts of one gateway about a revision's requests, in addition to their attempts. Windows of gateways of the previous
 * release lack all of it.
 */
export interface WindowDemand {
  /** Requests for the revision, counted when they came. A retry is none. */
  arrivals?: number | null;
  /** Those of `arrivals` that a session bound to an instance. */
  session_arrivals?: number | null;
  /** Requests that were refused because no instance could be had. */
  refused?: number | null;
  /** Milliseconds that requests were held. Null if none was. */
  held?: Histogram | null;
  /** Tokens of successful requests. Null if none are known. */
  tokens?: { input: Histogram; output: Histogram } | null;
  /** The part of `loads` that belongs to instances that had just started. Null if there was none. */
  starting?: Loads | null;
}

/** One row to store: the attempts that ended on one gateway within one second, and the requests that came. */
export interface StatsWindow extends AttemptCounts, Histograms, WindowDemand {
  revision_id: string;
  tenant_id: string;
  gateway_id: string;
  /** RFC 3339, a whole second. */
  window_start: string;
  streamed: number;
  tokens_in: number;
  tokens_out: number;
  loads: Loads | null;
  callers: Callers | null;
  waits: Waits | null;
  /** Failed attempts by what was wrong with the answer. Null if none is known. */
  faults: Readonly<Record<string, number>> | null;
}

/**
 * A window is written once, by its gateway, after it closed. A batch with an uncertain commit can therefore be sent
 * again: existing rows are kept instead of being counted twice.
 */
const WRITE_WINDOWS: NamedSql = {
  name: 'dataplane_write_windows',
  text: `
    insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, overloaded, server_error, connect_error,
      abandoned, cancelled, retried, overloaded_retried, streamed, tokens_in, tokens_out, histograms, loads, callers, waits, faults,
      arrivals, session_arrivals, refused, held, tokens, starting)
    select w.revision_id, w.window_start, w.gateway_id, w.tenant_id, w.ok, w.client_error, w.overloaded, w.server_error, w.connect_error,
      w.abandoned, w.cancelled, w.retried, w.overloaded_retried, w.streamed, w.tokens_in, w.tokens_out, w.histograms, w.loads, w.callers, w.waits, w.faults,
      w.arrivals, w.session_arrivals, w.refused, w.held, w.tokens, w.starting
    from jsonb_to_recordset($1::jsonb) as w(revision_id text, window_start timestamptz, gateway_id text, tenant_id text, ok int,
      client_error int, overloaded int, server_error int, connect_error int, abandoned int, cancelled int, retried int, overloaded_retried int,
      streamed int, tokens_in bigint, tokens_out bigint, histograms jsonb, loads jsonb, callers jsonb, waits jsonb, faults jsonb,
      arrivals int, session_arrivals int, refused int, held jsonb, tokens jsonb, starting jsonb)
    on conflict do nothing`,
};

const READ_WINDOWS: NamedSql = {
  name: 'dataplane_read_windows',
  text: `
    select gateway_id, window_start, ok, client_error, overloaded, server_error, connect_error, abandoned, cancelled, retried, overloaded_retried,
      streamed, tokens_in::float8, tokens_out::float8, histograms, loads, callers, waits
    from dataplane_request_stats
    where revision_id = $1 and window_start >= $2 and window_start < $3`,
};

const READ_SECONDS: NamedSql = {
  name: 'dataplane_read_seconds',
  text: `
    select revision_id as "revisionId", window_start as at, ${COUNTED.map((name) => `sum(${name})::int as ${name}`).join(', ')}
    from dataplane_request_stats
    where revision_id = any ($1::text[]) and window_start >= $2 and window_start < $3
    group by revision_id, window_start order by window_start`,
};

/** Walks back from $2 to the newest window of $3 seconds that has at least $4 requests. */
const FIND_WINDOW: NamedSql = {
  name: 'dataplane_find_window',
  text: `
    with seconds as (
      select window_start, sum(ok + client_error + overloaded + server_error + connect_error - retried - overloaded_retried) as requests
      from dataplane_request_stats where revision_id = $1 and window_start < $2 group by window_start),
    sliding as (
      select window_start,
        sum(requests) over (order by window_start range between make_interval(secs => $3) preceding and current row) as requests
      from seconds)
    select window_start + interval '1 second' as until from sliding where requests >= $4 order by window_start desc limit 1`,
};

const READ_FAULTS: NamedSql = {
  name: 'dataplane_read_faults',
  text: `
    select s.revision_id as id, f.key as fault, sum(f.value::bigint)::float8 as attempts
    from dataplane_request_stats s cross join lateral jsonb_each_text(s.faults) f
    where s.faults is not null and s.window_start > now() - make_interval(secs => $1) and f.key = any($2::text[])
    group by s.revision_id, f.key order by s.revision_id, f.key`,
};

const READ_COMPLETENESS: NamedSql = {
  name: 'dataplane_complete_until',
  text: `
    select case when bool_and(stats_until is not null) then least(min(stats_until), clock_timestamp()) end as until
    from dataplane_gateways where seen_at > clock_timestamp() - interval '10 seconds'`,
};

/** A gateway places its windows by the clock of Postgres. Two seconds are more than the error of that. */
const READ_REPORTERS: NamedSql = {
  name: 'dataplane_read_reporters',
  text: `
    select gateway_id as "gatewayId",
      case when seen_at <= clock_timestamp() - interval '10 seconds' then 'left'
        when exists (
          select from dataplane_request_stats s where s.revision_id = any ($1::text[]) and s.gateway_id = g.gateway_id
            and s.window_start > clock_timestamp() + interval '2 seconds') then 'ahead'
        when stats_until >= $3 then 'complete'
        when seen_at <= clock_timestamp() - interval '3 seconds' then 'silent'
        else 'missing' end as state
    from dataplane_gateways g where seen_at >= $2 order by gateway_id`,
};

/** Stores closed windows. Safe to repeat with the same windows. */
export async function writeWindows(db: QueryClient, windows: readonly StatsWindow[]): Promise<void> {
  if (windows.length > 0) await db.query(WRITE_WINDOWS, [JSON.stringify(windows.map(rowOf))]);
}

/**
 * Returns everything that ended on a revision (or binding) in the whole seconds of [from, to), over all gateways. All
 * zeros if nothing is stored; `statsCompleteUntil` shows whether that is complete.
 */
export async function statsBetween(db: QueryClient, revisionId: string, from: Date, to: Date): Promise<RequestStats> {
  const rows = await db.query<WindowRow>(READ_WINDOWS, [revisionId, from, to]);
  const slices = slicesOf(rows, from.getTime(), to.getTime());
  const sum = (pick: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0);
  return {
    counts: addedCounts(rows),
    streamed: sum((row) => row.streamed),
    tokens_in: sum((row) => row.tokens_in),
    tokens_out: sum((row) => row.tokens_out),
    ...histogramsOf((metric) => mergeHistograms(slices.map((slice) => slice[metric]))),
    loads: mergeLoads(loadsParts(rows.map(recordedLoads), to.getTime() - from.getTime())),
    ...callersOf(rows),
    ...waitsOf(rows),
    slices,
  };
}

/** The attempts that ended on one revision within one second, on all gateways. */
export interface SecondCounts extends AttemptCounts {
  revisionId: string;
  at: Date;
}

/** Returns the counts of the whole seconds of [from, to), in their order. Seconds without requests are left out. */
export function countsBySecond(
  db: QueryClient,
  revisionIds: readonly string[],
  from: Date,
  to: Date,
): Promise<SecondCounts[]> {
  return db.query<SecondCounts>(READ_SECONDS, [revisionIds, from, to]);
}

/** Returns the newest window that ended by `before` and has `minAttempts`, or null: a baseline without live traffic. */
export async function lastWindowWith(
  db: QueryClient,
  revisionId: string,
  options: { before: Date; seconds: number; minAttempts: number },
): Promise<{ from: Date; to: Date } | null> {
  const [found] = await db.query<{ until: Date }>(FIND_WINDOW, [
    revisionId,
    options.before,
    options.seconds - 1,
    options.minAttempts,
  ]);
  return found ? { from: new Date(found.until.getTime() - options.seconds * 1000), to: found.until } : null;
}

/**
 * Returns the time up to which the statistics of every live gateway are stored, at most the time now. Null if no gateway
 * is alive or one has stored none yet. An analysis of a window that ends later would miss requests.
 */
export async function statsCompleteUntil(db: QueryClient): Promise<Date | null> {
  const [row] = await db.query<{ until: Date | null }>(READ_COMPLETENESS);
  return row?.until ?? null;
}

/** A gateway that was alive in an interval, and whether it has reported it. */
export interface StatsReporter {
  gatewayId: string;
  /**
   * `left`: not seen for ten seconds; what it had not stored is lost. `ahead`: has stored windows that have not begun.
   * `complete`: has stored the whole interval. `silent`: has not, and was not seen for three seconds, so it may leave.
   * `missing`: has not.
   */
  state: 'left' | 'ahead' | 'complete' | 'silent' | 'missing';
}

/** Returns the gateways that were alive in [from, now], and whether their windows of [from, to) can be relied on. */
export function reportersOf(
  db: QueryClient,
  revisionIds: readonly string[],
  { from, to }: { from: Date; to: Date },
): Promise<StatsReporter[]> {
  return db.query<StatsReporter>(READ_REPORTERS, [revisionIds, from, to]);
}

/** Faults that only the operator can correct. */
export const CONFIGURATION_FAULTS = ['credential', 'model_missing', 'redirect'] as const;

export type ConfigurationFault = (typeof CONFIGURATION_FAULTS)[number];

/** A gateway that could not reach Postgres writes its windows late. */
const FAULT_SECONDS = 120;
/** The next run reports the rest. */
const MOST_FAULTS = 200;

/** A kind of fault that answers had. */
export interface ReportedFault {
  fault: ConfigurationFault;
  attempts: number;
}

/** The revision, or the binding of a published product, that had it. */
interface RecentFault extends ReportedFault {
  id: string;
}

/**
 * Finds recent faults of the configuration, and claims those that an area is to report.
 * @param claim marks faults as reported, so that one of several workers reports each. Its values are the ids, the faults
 * of the same length, and the most rows
 * @returns the claimed rows with their attempts
 */
export async function claimFaults<Row extends { fault: string }>(
  db: QueryClient,
  claim: (values: [ids: string[], faults: string[], most: number]) => Promise<Row[]>,
  idOf: (row: Row) => string,
): Promise<(Row & ReportedFault)[]> {
  const found = await db.query<RecentFault>(READ_FAULTS, [FAULT_SECONDS, CONFIGURATION_FAULTS]);
  if (found.length === 0) return [];
  const attempts = new Map(found.map((one) => [`${one.id} ${one.fault}`, one.attempts]));
  const rows = await claim([found.map(({ id }) => id), found.map(({ fault }) => fault), MOST_FAULTS]);
  return rows.map((row) => ({
    ...row,
    fault: row.fault as ConfigurationFault,
    attempts: attempts.get(`${idOf(row)} ${row.fault}`) ?? 0,
  }));
}

/** Deletes the oldest first; resolves to their number, at most the requested one. */
export const deleteWindowsOlderThan = deletionOf('dataplane_delete_old_windows', 'dataplane_request_stats');

/**
 * Failures out of a total. A client's own mistakes (4xx) count as served; requests that the client left do not count.
 */
export interface FailureCount {
  failed: number;
  of: number;
}

export function emptyCounts(): AttemptCounts {
  return Object.fromEntries(COUNTED.map((name) => [name, 0])) as unknown as AttemptCounts;
}

/** Adds up the counts of several windows, revisions or bindings. */
export function addedCounts(all: readonly AttemptCounts[]): AttemptCounts {
  const sum = emptyCounts();
  for (const counts of all) for (const name of COUNTED) sum[name] += counts[name];
  return sum;
}

/** Counts the attempts that say something about the revision. */
export function attemptFailures(counts: AttemptCounts): FailureCount {
  const failed = counts.server_error + counts.connect_error;
  return { failed, of: counts.ok + counts.client_error + counts.overloaded + failed };
}

/** Counts requests as their clients saw them: no client sees a failed attempt that was retried. */
export function requestFailures(counts: AttemptCounts): FailureCount {
  const { failed, of } = attemptFailures(counts);
  return { failed: failed - counts.retried, of: of - counts.retried - counts.overloaded_retried };
}

/** A window as stored. A row from before a metric existed lacks its histogram. */
interface WindowRow extends AttemptCounts {
  gateway_id: string;
  window_start: Date;
  streamed: number;
  tokens_in: number;
  tokens_out: number;
  histograms: Partial<Histograms>;
  /** Null in rows of old gateways, as are the next two. */
  loads: Loads | null;
  callers: Callers | null;
  waits: Waits | null;
}

function recordedLoads({ gateway_id: gatewayId, loads, histograms }: WindowRow): RecordedLoads {
  return { gatewayId, loads, busyMs: histograms.e2e_latency_ms?.sum ?? 0 };
}

/** Absent if a row lacks them: without the callers of an old gateway, the counts of the others would mislead. */
function callersOf(rows: readonly WindowRow[]): Pick<RequestStats, 'callers'> {
  const merged: Callers = {};
  for (const { callers } of rows) {
    if (!callers) return {};
    for (const [bucket, counts] of Object.entries(callers)) {
      const known = (merged[bucket] ??= [0, 0, 0, 0, 0]);
      counts.forEach((count, index) => (known[index] = (known[index] ?? 0) + count));
    }
  }
  return { callers: merged };
}

function waitsOf(rows: readonly WindowRow[]): Pick<RequestStats, 'waits'> {
  const newest = new Map<string, { at: Date; waits: Waits }>();
  const left: Histogram[] = [];
  for (const { gateway_id, window_start: at, waits } of rows) {
    if (!waits) return {};
    left.push(waits.left);
    const known = newest.get(gateway_id);
    if (!known || known.at < at) newest.set(gateway_id, { at, waits });
  }
  const last = [...newest.values()].map((one) => one.waits);
  const waiting = mergeHistograms(last.map((one) => one.waiting));
  const callers: Record<string, number> = {};
  for (const one of last)
    for (const [bucket, count] of Object.entries(one.callers ?? {})) callers[bucket] = (callers[bucket] ?? 0) + count;
  return { waits: { left: mergeHistograms(left), waiting, callers } };
}

function slicesOf(rows: readonly WindowRow[], from: number, to: number): Histograms[] {
  const bySlice = Array.from({ length: SLICES }, (): WindowRow[] => []);
  for (const row of rows) bySlice[Math.floor((SLICES * (row.window_start.getTime() - from)) / (to - from))]?.push(row);
  return bySlice
    .map((some) =>
      histogramsOf((metric) => mergeHistograms(some.map((row) => row.histograms[metric] ?? emptyHistogram()))),
    )
    .filter((slice) => DISTRIBUTIONS.some((metric) => slice[metric].n > 0));
}

function rowOf(window: StatsWindow): object {
  return { ...window, histograms: histogramsOf((metric) => window[metric]) };
}

export function histogramsOf(histogram: (metric: Distribution) => Histogram): Histograms {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, histogram(metric)])) as Histograms;
}

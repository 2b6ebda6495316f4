import { emptyHistogram } from '../statistics/histogram.js';
import {
  histogramsOf,
  statsCompleteUntil,
  type AttemptCounts,
  type Histograms,
  type StatsWindow,
  type WindowDemand,
} from '../statistics/stats.query.js';
import type { NamedSql, QueryClient } from '../sql.js';
import { mergeRecords, mergeWindows } from './merge.js';
import type { RecordSeconds, ServiceRecord } from './record.js';
import { recordOf, storedRecord, type RecordRow } from './stored-record.js';

/*
 * The job that merges one-second rows to records of a minute, and those to records of an hour, in the order of time. How
 * far it is, is a row in Postgres, which each step locks and moves on in the transaction that writes the records. So a
 * step that is cut off has done nothing, and two workers never do the same one.
 */

/** Revisions of one step. Their rows are in memory at once: 60 for each gateway, of some kilobytes. */
const REVISIONS_AT_ONCE = 10;

/** Another worker that is in a step at this moment is not waited for. */
const CLAIM_MERGE: NamedSql = {
  name: 'dataplane_claim_merge',
  text: `
    select merged_until as "mergedUntil", last_revision as "lastRevision"
    from dataplane_record_merges where seconds = $1 for update skip locked`,
};

const MOVE_MERGE: NamedSql = {
  name: 'dataplane_move_merge',
  text: `update dataplane_record_merges set merged_until = $2, last_revision = $3 where seconds = $1`,
};

const READ_MERGED_MINUTES: NamedSql = {
  name: 'dataplane_merged_minutes',
  text: `select merged_until as until from dataplane_record_merges where seconds = 60`,
};

/** The source of each length of records: where the next row is, and which revisions have rows in [$1, $2). */
const SOURCES: Record<RecordSeconds, { next: NamedSql; revisions: NamedSql }> = {
  60: {
    next: {
      name: 'dataplane_next_window',
      text: `select min(window_start) as at from dataplane_request_stats where window_start >= $1`,
    },
    revisions: {
      name: 'dataplane_revisions_of_windows',
      text: `
        select distinct revision_id as id from dataplane_request_stats
        where window_start >= $1 and window_start < $2 and ($3::text is null or revision_id > $3) order by 1 limit $4`,
    },
  },
  3600: {
    next: {
      name: 'dataplane_next_minute',
      text: `select min(starts_at) as at from dataplane_service_records where seconds = 60 and starts_at >= $1`,
    },
    revisions: {
      name: 'dataplane_revisions_of_minutes',
      text: `
        select distinct revision_id as id from dataplane_service_records
        where seconds = 60 and starts_at >= $1 and starts_at < $2 and ($3::text is null or revision_id > $3) order by 1 limit $4`,
    },
  },
};

/** `offset 0` keeps it a lookup by key for each revision. */
const READ_WINDOWS_TO_MERGE: NamedSql = {
  name: 'dataplane_read_windows_to_merge',
  text: `
    select w.* from unnest($1::text[]) as r(id) cross join lateral (
      select revision_id, tenant_id, gateway_id, ok, client_error, overloaded, server_error, connect_error, abandoned, cancelled, retried,
        overloaded_retried, streamed, tokens_in::float8, tokens_out::float8, histograms, loads, arrivals, session_arrivals, refused, held, tokens, starting
      from dataplane_request_stats s where s.revision_id = r.id and s.window_start >= $2 and s.window_start < $3 offset 0) as w`,
};

const READ_PEAKS: NamedSql = {
  name: 'dataplane_read_peaks',
  text: `
    select revision_id, kv_usage as "kvUsage", waiting from dataplane_engine_peaks
    where revision_id = any($1::text[]) and starts_at = $2`,
};

const READ_MINUTES_TO_MERGE: NamedSql = {
  name: 'dataplane_read_minutes_to_merge',
  text: `
    select revision_id, tenant_id, extract(epoch from starts_at)::float8 as at, seconds, arrivals, refused, record
    from dataplane_service_records
    where revision_id = any($1::text[]) and seconds = 60 and starts_at >= $2 and starts_at < $3 order by starts_at`,
};

/** A step that is repeated after the position was set back by hand writes the same records again. */
const WRITE_RECORDS: NamedSql = {
  name: 'dataplane_write_records',
  text: `
    insert into dataplane_service_records (revision_id, seconds, starts_at, tenant_id, arrivals, refused, record)
    select r.revision_id, $2::int, $3::timestamptz, r.tenant_id, r.arrivals, r.refused, r.record
    from jsonb_to_recordset($1::jsonb) as r(revision_id text, tenant_id text, arrivals int, refused int, record jsonb)
    on conflict (revision_id, seconds, starts_at) do update set arrivals = excluded.arrivals, refused = excluded.refused, record = excluded.record`,
};

/** Once for each look at the engines of a target. The largest values of a minute stay. */
const NOTE_PEAKS: NamedSql = {
  name: 'dataplane_note_peaks',
  text: `
    insert into dataplane_engine_peaks as p (revision_id, starts_at, tenant_id, kv_usage, waiting)
    select e.revision_id, date_bin('1 minute', clock_timestamp(), timestamptz '2000-01-01T00:00:00Z'), min(e.tenant_id), max(e.kv_usage), max(e.waiting)
    from jsonb_to_recordset($1::jsonb) as e(revision_id text, tenant_id text, kv_usage float8, waiting float8)
    where e.kv_usage is not null or e.waiting is not null group by e.revision_id
    on conflict (revision_id, starts_at) do update set
      kv_usage = greatest(p.kv_usage, excluded.kv_usage), waiting = greatest(p.waiting, excluded.waiting)`,
};

interface MergePosition {
  mergedUntil: Date;
  lastRevision: string | null;
}

interface RevisionKey {
  revision_id: string;
  tenant_id: string;
}

type WindowToMerge = AttemptCounts &
  RevisionKey &
  Required<WindowDemand> &
  Pick<StatsWindow, 'gateway_id' | 'streamed' | 'tokens_in' | 'tokens_out' | 'loads'> & {
    histograms: Partial<Histograms>;
  };

/** The report of an engine about itself; a value that it does not report is null. */
export interface EngineReport extends RevisionKey {
  kv_usage: number | null;
  waiting: number | null;
}

/** Keeps the largest values of this minute for the records. */
export async function noteEnginePeaks(db: QueryClient, reports: readonly EngineReport[]): Promise<void> {
  if (reports.length > 0) await db.query(NOTE_PEAKS, [JSON.stringify(reports)]);
}

/**
 * Does the next step of the merge: some revisions of the next minute (or hour) that is complete. Call it in a transaction
 * of its own, as the system. Resolves to whether there may be another step now.
 */
export async function mergeNextRecords(db: QueryClient, seconds: RecordSeconds): Promise<boolean> {
  const [position] = await db.query<MergePosition>(CLAIM_MERGE, [seconds]);
  if (!position) return false;
  const end = await completeUntil(db, seconds);
  const stepMs = seconds * 1_000;
  const start =
    position.lastRevision === null ? await nextStart(db, seconds, position, end) : position.mergedUntil.getTime();
  if (start + stepMs > end) {
    if (start > position.mergedUntil.getTime())
      await moveTo(db, seconds, { ...position, mergedUntil: new Date(start) });
    return false;
  }
  const [from, to] = [new Date(start), new Date(start + stepMs)];
  const found = await db.query<{ id: string }>(SOURCES[seconds].revisions, [
    from,
    to,
    position.lastRevision,
    REVISIONS_AT_ONCE,
  ]);
  const ids = found.map(({ id }) => id);
  const records = seconds === 60 ? await minutesFrom(db, ids, from, to) : await hoursFrom(db, ids, from, to);
  if (records.length > 0) await db.query(WRITE_RECORDS, [JSON.stringify(records), seconds, from]);
  const last = ids.length === REVISIONS_AT_ONCE ? (ids.at(-1) as string) : null;
  await moveTo(db, seconds, { mergedUntil: last === null ? to : from, lastRevision: last });
  return true;
}

/** Returns the time up to which the rows that are merged are complete. */
async function completeUntil(db: QueryClient, seconds: RecordSeconds): Promise<number> {
  if (seconds === 60) return (await statsCompleteUntil(db))?.getTime() ?? -Infinity;
  const [row] = await db.query<{ until: Date }>(READ_MERGED_MINUTES);
  return row?.until.getTime() ?? -Infinity;
}

/** Skips the time without rows, as after an outage, but no time that may still get some. */
async function nextStart(
  db: QueryClient,
  seconds: RecordSeconds,
  { mergedUntil }: MergePosition,
  end: number,
): Promise<number> {
  const [row] = await db.query<{ at: Date | null }>(SOURCES[seconds].next, [mergedUntil]);
  const next = Math.min(row?.at?.getTime() ?? Infinity, end);
  const stepMs = seconds * 1_000;
  return Math.max(mergedUntil.getTime(), Math.floor(next / stepMs) * stepMs);
}

async function moveTo(db: QueryClient, seconds: RecordSeconds, position: MergePosition): Promise<void> {
  await db.query(MOVE_MERGE, [seconds, position.mergedUntil, position.lastRevision]);
}

async function minutesFrom(db: QueryClient, ids: readonly string[], from: Date, to: Date): Promise<object[]> {
  const windows = await db.query<WindowToMerge>(READ_WINDOWS_TO_MERGE, [ids, from, to]);
  const peaks = await db.query<RevisionKey & Pick<ServiceRecord, 'kvUsage' | 'waiting'>>(READ_PEAKS, [ids, from]);
  const peaksOf = new Map(peaks.map(({ revision_id, kvUsage, waiting }) => [revision_id, { kvUsage, waiting }]));
  return byRevision(windows).map((some) => {
    const merged = mergeWindows(some.map(windowOf), from, 60);
    return rowOf(some[0], { ...merged, ...peaksOf.get(some[0].revision_id) });
  });
}

async function hoursFrom(db: QueryClient, ids: readonly string[], from: Date, to: Date): Promise<object[]> {
  const minutes = await db.query<RevisionKey & RecordRow>(READ_MINUTES_TO_MERGE, [ids, from, to]);
  return byRevision(minutes).map((some) =>
    rowOf(some[0], { ...mergeRecords(some.map(recordOf)), at: from, seconds: 3600 }),
  );
}

function rowOf({ revision_id, tenant_id }: RevisionKey, record: ServiceRecord): object {
  const { arrivals, refused } = record;
  return { revision_id, tenant_id, arrivals, refused, record: storedRecord(record) };
}

function windowOf({ histograms, ...row }: WindowToMerge): StatsWindow {
  return {
    ...row,
    ...histogramsOf((metric) => histograms[metric] ?? emptyHistogram()),
    // A merge needs neither of them.
    window_start: '',
    callers: null,
    waits: null,
    faults: null,
  };
}

function byRevision<Row extends RevisionKey>(rows: readonly Row[]): [Row, ...Row[]][] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const group = groups.get(row.revision_id);
    if (group) group.push(row);
    else groups.set(row.revision_id, [row]);
  }
  return [...groups.values()];
}

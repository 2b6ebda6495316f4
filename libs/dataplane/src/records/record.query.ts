import type { NamedSql, QueryClient } from '../sql.js';
import { deletionOf } from '../statistics/old-windows.js';
import { mergeRecords } from './merge.js';
import type { ArrivalCount, ServiceRecord } from './record.js';
import { recordOf, type RecordRow } from './stored-record.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Days that records are kept: hours show a month, and minutes a week and the day on which it is looked at. */
export const MINUTES_KEPT_DAYS = 8;
export const HOURS_KEPT_DAYS = 30;
/** The job that merges may be away for three days, as long as the one-second rows are kept at least. */
export const PEAKS_KEPT_DAYS = 4;

/**
 * Read once for each diagnosis of a deployment, over a week. Hours that are not merged yet are read as minutes.
 */
const READ_RECORDS: NamedSql = {
  name: 'dataplane_read_records',
  text: `
    with change as materialized (
      select least($3::timestamptz, merged_until) as at from dataplane_record_merges where seconds = 3600)
    select extract(epoch from r.starts_at)::float8 as at, r.seconds, r.arrivals, r.refused, r.record from (
      select h.* from dataplane_service_records h cross join change c
      where h.revision_id = any($1::text[]) and h.seconds = 3600 and h.starts_at >= $2 and h.starts_at < least(c.at, $4)
      union all
      select m.* from dataplane_service_records m cross join change c
      where m.revision_id = any($1::text[]) and m.seconds = 60 and m.starts_at >= greatest(c.at, $2) and m.starts_at < $4) as r
    order by r.starts_at`,
};

/** The counts are columns, so Postgres adds them up without reading the rest of the rows. */
const READ_MINUTES: NamedSql = {
  name: 'dataplane_read_record_minutes',
  text: `
    with minutes as materialized (
      select extract(epoch from starts_at)::float8 as at, sum(arrivals)::int as arrivals, sum(refused)::int as refused
      from dataplane_service_records
      where revision_id = any($1::text[]) and seconds = 60 and starts_at >= $2 and starts_at < $3 group by starts_at)
    select (select coalesce(json_agg(json_build_array(at, arrivals, refused) order by at), '[]') from minutes) as minutes,
      exists (select from dataplane_service_records
        where revision_id = any($1::text[]) and seconds = 60 and starts_at < $2) as "isOlder",
      (select merged_until from dataplane_record_merges where seconds = 60) as "mergedUntil"`,
};

interface MinuteCounts {
  minutes: [at: number, arrivals: number, refused: number][];
  /** Whether the revisions have a record from before the range. */
  isOlder: boolean;
  mergedUntil: Date;
}

/**
 * Returns the records of revisions in [from, to), oldest first: by minute back to `minutesFrom`, and by hour before it.
 * Records of several revisions at one time are added up. `minutesFrom` counts as the start of its hour. A time in which
 * nothing ended and nothing came has no record.
 */
export async function serviceRecords(
  db: QueryClient,
  revisionIds: readonly string[],
  { from, minutesFrom, to }: { from: Date; minutesFrom: Date; to: Date },
): Promise<ServiceRecord[]> {
  const rows = await db.query<RecordRow>(READ_RECORDS, [revisionIds, from, floored(minutesFrom, HOUR_MS), to]);
  const records: ServiceRecord[] = [];
  let of: ServiceRecord[] = [];
  for (const row of rows) {
    const record = recordOf(row);
    if (of[0] && (of[0].at.getTime() !== record.at.getTime() || of[0].seconds !== record.seconds)) {
      records.push(oneOf(of));
      of = [];
    }
    of.push(record);
  }
  if (of.length > 0) records.push(oneOf(of));
  return records;
}

/**
 * Returns the requests for revisions by minute, oldest first, from their first record in [from, to). Minutes without any
 * count 0. It ends where the records end, which is about a minute ago, and begins at most `MINUTES_KEPT_DAYS` ago.
 */
export async function arrivalCounts(
  db: QueryClient,
  revisionIds: readonly string[],
  range: { from: Date; to: Date },
): Promise<ArrivalCount[]> {
  const { counts, start, end } = await minutesOf(db, revisionIds, range);
  const byMinute = new Map(counts.minutes.map(([at, arrivals]) => [at * 1_000, arrivals]));
  const all: ArrivalCount[] = [];
  for (let at = start; at < end; at += MINUTE_MS)
    all.push({ at: new Date(at), seconds: 60, count: byMinute.get(at) ?? 0 });
  return all;
}

/**
 * Returns in how many minutes of [from, to) a request was refused because no instance could be had, and how many minutes
 * there are. Minutes before the first record of the revisions do not count, and neither do those that are not merged.
 */
export async function availabilityOf(
  db: QueryClient,
  revisionIds: readonly string[],
  range: { from: Date; to: Date },
): Promise<{ minutes: number; refusedMinutes: number }> {
  const { counts, start, end } = await minutesOf(db, revisionIds, range);
  const refused = counts.minutes.filter(([at, , some]) => some > 0 && at * 1_000 < end);
  return { minutes: Math.max(0, (end - start) / MINUTE_MS), refusedMinutes: refused.length };
}

async function minutesOf(
  db: QueryClient,
  revisionIds: readonly string[],
  { from, to }: { from: Date; to: Date },
): Promise<{ counts: MinuteCounts; start: number; end: number }> {
  const [row] = await db.query<MinuteCounts>(READ_MINUTES, [revisionIds, from, to]);
  const counts = row as MinuteCounts;
  // Rounded up: a minute is of the range if it begins in it.
  const end = Math.min(Math.ceil(to.getTime() / MINUTE_MS) * MINUTE_MS, counts.mergedUntil.getTime());
  const [first] = counts.minutes;
  const began = first ? first[0] * 1_000 : end;
  const start = counts.isOlder ? Math.ceil(from.getTime() / MINUTE_MS) * MINUTE_MS : began;
  return { counts, start: Math.min(start, end), end };
}

/** Deletes records of minutes, the oldest first; resolves to their number, at most the requested one. */
export const deleteMinutesOlderThan = deletionOf(
  'dataplane_delete_old_minutes',
  'dataplane_service_records',
  'starts_at',
  'seconds = 60',
);

/** Deletes records of hours. */
export const deleteHoursOlderThan = deletionOf(
  'dataplane_delete_old_hours',
  'dataplane_service_records',
  'starts_at',
  'seconds = 3600',
);

/** Deletes the largest values that engines reported. */
export const deletePeaksOlderThan = deletionOf('dataplane_delete_old_peaks', 'dataplane_engine_peaks', 'starts_at');

function oneOf(records: readonly ServiceRecord[]): ServiceRecord {
  return records.length === 1 ? (records[0] as ServiceRecord) : mergeRecords(records);
}

function floored(time: Date, stepMs: number): Date {
  return new Date(Math.floor(time.getTime() / stepMs) * stepMs);
}

import { beforeEach, expect, it } from '@jest/globals';
import { DISTRIBUTIONS } from '@slipway/contracts';
import {
  arrivalCounts,
  availabilityOf,
  deleteHoursOlderThan,
  deleteMinutesOlderThan,
  deletePeaksOlderThan,
  HistogramRecorder,
  serviceRecords,
  type Histogram,
  type Loads,
  type ServiceRecord,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';
import { RecordBed } from './record-bed.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;
const bed = new RecordBed(connection);
beforeEach(() => bed.reset());

/** Merges everything up to this second, to minutes and hours. */
async function mergedUntil(second: number): Promise<void> {
  await bed.report(second);
  await bed.merge(60);
  await bed.merge(3600);
}

const range = (from: number, minutesFrom: number, to: number) => ({
  from: bed.at(from),
  minutesFrom: bed.at(minutesFrom),
  to: bed.at(to),
});
const seen = async (...asked: [from: number, minutesFrom: number, to: number, ids?: string[]]) =>
  (await serviceRecords(db, asked[3] ?? ['rev'], range(asked[0], asked[1], asked[2]))).map((record) => [
    (record.at.getTime() - bed.base.getTime()) / 60_000,
    record.seconds,
    record.arrivals,
  ]);

it('reads minutes back to a time and hours before it, each request once', async () => {
  const minutes = [0, 30, 59, 60, 90, 119, 120, 121];
  await bed.store(...minutes.map((minute, n) => bed.window(minute * 60, { arrivals: 10 ** n })));
  await mergedUntil(7_380);
  expect(await seen(0, 7_200, 7_380)).toEqual([
    [0, 3600, 111],
    [60, 3600, 111_000],
    [120, 60, 1_000_000],
    [121, 60, 10_000_000],
  ]);
  // The hour of `minutesFrom` is read by minute as a whole.
  expect(await seen(0, 5_000, 7_260)).toEqual([
    [0, 3600, 111],
    [60, 60, 1_000],
    [90, 60, 10_000],
    [119, 60, 100_000],
    [120, 60, 1_000_000],
  ]);
  expect(await seen(1_800, 0, 3_600)).toEqual([
    [30, 60, 10],
    [59, 60, 100],
  ]);
  expect(await seen(0, 9_000, 3_600)).toEqual([[0, 3600, 111]]);
});

it('reads an hour that is not merged yet by minute', async () => {
  await bed.store(bed.window(0), bed.window(3_600), bed.window(3_660));
  await mergedUntil(3_720);
  expect(await seen(0, 7_200, 7_200)).toEqual([
    [0, 3600, 1],
    [60, 60, 1],
    [61, 60, 1],
  ]);
});

it('adds up several revisions by time', async () => {
  await bed.store(
    bed.window(0, { arrivals: 1 }),
    bed.window(0, { arrivals: 10, revision_id: 'rev_2' }),
    bed.window(60, { arrivals: 100, revision_id: 'rev_2' }),
    bed.window(60, { arrivals: 1_000, revision_id: 'rev_3' }),
  );
  await mergedUntil(120);
  expect(await seen(0, 0, 120, ['rev', 'rev_2'])).toEqual([
    [0, 60, 11],
    [1, 60, 100],
  ]);
  expect(await seen(0, 0, 120, [])).toEqual([]);
});

it('counts arrivals by minute, with zeros from the first one on, as far as records are complete', async () => {
  await bed.store(
    bed.window(120, { arrivals: 2 }),
    bed.window(121, { arrivals: 3, revision_id: 'rev_2' }),
    bed.window(300, { arrivals: 4 }),
    bed.window(420, { arrivals: 9 }),
  );
  await mergedUntil(420);
  const counts = async (from: number, to: number, ids = ['rev', 'rev_2']) =>
    (await arrivalCounts(db, ids, { from: bed.at(from), to: bed.at(to) })).map(({ at, count, seconds }) => {
      expect(seconds).toBe(60);
      return [(at.getTime() - bed.base.getTime()) / 60_000, count];
    });
  expect(await counts(0, 3_600)).toEqual([
    [2, 5],
    [3, 0],
    [4, 0],
    [5, 4],
    [6, 0],
  ]);
  // The revisions had requests before: the first minute counts.
  expect(await counts(180, 270)).toEqual([
    [3, 0],
    [4, 0],
  ]);
  expect(await counts(0, 3_600, ['rev_2'])).toHaveLength(5);
  expect(await counts(0, 3_600, ['rev_other'])).toEqual([]);
  expect(await counts(600, 3_600)).toEqual([]);
});

it('counts the minutes in which a request was refused, of those since the first record', async () => {
  await bed.store(
    bed.window(60, { refused: 3 }),
    bed.window(61, { refused: 1, revision_id: 'rev_2' }),
    bed.window(180),
    bed.window(240, { refused: 1 }),
  );
  await mergedUntil(600);
  const of = (from: number, to: number, ids = ['rev', 'rev_2']) =>
    availabilityOf(db, ids, { from: bed.at(from), to: bed.at(to) });
  expect(await of(0, 3_600)).toEqual({ minutes: 9, refusedMinutes: 2 });
  expect(await of(120, 240)).toEqual({ minutes: 2, refusedMinutes: 0 });
  expect(await of(0, 3_600, ['rev_2'])).toEqual({ minutes: 9, refusedMinutes: 1 });
  expect(await of(0, 3_600, ['rev_other'])).toEqual({ minutes: 0, refusedMinutes: 0 });
});

it('shows a tenant its own records, and how far they are complete', async () => {
  await bed.store(bed.window(0), bed.window(0, { revision_id: 'rev_foreign', tenant_id: 'ten_other' }));
  await mergedUntil(3_600);
  await connection.sql('begin');
  try {
    await connection.sql(`set local role slipway_tenant`);
    await connection.sql(`select set_config('slipway.tenant', 'ten', true)`);
    expect(await seen(0, 0, 3_600, ['rev', 'rev_foreign'])).toEqual([[0, 60, 1]]);
    expect(await arrivalCounts(db, ['rev'], { from: bed.at(0), to: bed.at(120) })).toHaveLength(2);
    await expect(connection.sql('update dataplane_record_merges set merged_until = now()')).rejects.toMatchObject({
      code: '42501',
    });
  } finally {
    await connection.sql('rollback');
  }
});

it('deletes minutes, hours and reports of engines by their own age', async () => {
  const days = [7.9, 8.1, 29.9, 30.1];
  for (const seconds of [60, 3600])
    await connection.sql(
      `insert into dataplane_service_records (revision_id, seconds, starts_at, tenant_id, arrivals, refused, record)
       select 'rev', $1::int, now() - day * interval '1 day', 'ten', 0, 0, '{}' from unnest($2::float8[]) as day`,
      [seconds, days],
    );
  await connection.sql(
    `insert into dataplane_engine_peaks (revision_id, starts_at, tenant_id)
     select 'rev', now() - day * interval '1 day', 'ten' from unnest(array[3.9, 4.1]) as day`,
  );
  const left = () =>
    connection.sql(
      `select (select count(*)::int from dataplane_service_records where seconds = 60) as minutes,
         (select count(*)::int from dataplane_service_records where seconds = 3600) as hours,
         (select count(*)::int from dataplane_engine_peaks) as peaks`,
    );
  expect(await deleteMinutesOlderThan(db, 8, 1)).toBe(1);
  expect(await left()).toEqual([{ minutes: 3, hours: 4, peaks: 2 }]);
  expect(await deleteMinutesOlderThan(db, 8, 10)).toBe(2);
  expect(await deleteHoursOlderThan(db, 30, 10)).toBe(1);
  expect(await deletePeaksOlderThan(db, 4, 10)).toBe(1);
  expect(await left()).toEqual([{ minutes: 1, hours: 3, peaks: 1 }]);
});

it('reads a week in little more processor time than its JSON needs', async () => {
  const minute = (n: number): Histogram => {
    const recorder = new HistogramRecorder();
    for (let at = 0; at < n; at += 1) recorder.record(Math.exp(4 + 2 * Math.sin(at)));
    return recorder.snapshot();
  };
  const loads = Object.fromEntries(
    DISTRIBUTIONS.map((metric) => [metric, Object.fromEntries([0, 1, 2, 3, 4, 5].map((load) => [load, minute(50)]))]),
  ) as Loads['histograms'];
  const all = minute(300);
  await bed.store(
    bed.window(0, {
      ok: 300,
      arrivals: 300,
      ...(Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, all])) as Record<'ttft_ms', Histogram>),
      loads: { instances: 2, alone_ms: 100, joined: 5, histograms: loads },
      tokens: { input: all, output: all },
    }),
  );
  await mergedUntil(3_600);
  await connection.sql(
    `insert into dataplane_service_records
     select revision_id, seconds, starts_at - n * interval '1 second' * seconds, tenant_id, arrivals, refused, record
     from dataplane_service_records, generate_series(1, 1440) as n where seconds = 60 or n <= 168`,
  );
  const week = range(-7 * 86_400, -86_400, 3_600);
  const processorMs = async (work: () => unknown): Promise<number> => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const texts = (
    await connection.sql<{ record: string }>(`select record::text from dataplane_service_records limit 1585`)
  ).map(({ record }) => record);
  const [reading, parsing]: [number[], number[]] = [[], []];
  for (let time = 0; time < 10; time += 1) {
    let records: ServiceRecord[] = [];
    reading.push(await processorMs(async () => (records = await serviceRecords(db, ['rev'], week))));
    expect(records.filter(({ seconds }) => seconds === 60).length).toBe(1_441);
    expect(records.filter(({ seconds }) => seconds === 3600).length).toBe(144);
    expect(records.at(-1)?.stats.ttft_ms.n).toBe(300);
    parsing.push(await processorMs(() => texts.forEach((text) => JSON.parse(text))));
  }
  // On an idle core, parsing takes 4 ms and reading about 25 ms: 50 ms are the limit.
  expect(Math.min(...reading)).toBeLessThan(12 * Math.min(...parsing));
});

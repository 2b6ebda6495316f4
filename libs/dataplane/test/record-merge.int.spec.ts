import { beforeEach, expect, it } from '@jest/globals';
import {
  emptyLoads,
  mergeNextRecords,
  noteEnginePeaks,
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

const values = (n: number): Histogram => ({ n, sum: 500 * n, sq: 250_000 * n, b: { 71: n } });
const loadsOf = (load: number, n: number): Loads => ({
  ...emptyLoads(),
  instances: 2,
  histograms: { ...emptyLoads().histograms, e2e_latency_ms: { [load]: values(n) } },
});
const read = async (ids = ['rev']): Promise<ServiceRecord[]> =>
  serviceRecords(db, ids, { from: bed.at(0), minutesFrom: bed.at(0), to: bed.at(7_200) });

it('merges each complete minute of all gateways to one record, with everything that a gateway counts', async () => {
  await bed.store(
    bed.window(0, {
      ok: 4,
      e2e_latency_ms: values(4),
      loads: loadsOf(3, 4),
      starting: loadsOf(3, 1),
      arrivals: 5,
      session_arrivals: 2,
      refused: 1,
      held: values(2),
      tokens: { input: values(4), output: values(3) },
    }),
    bed.window(59, { ok: 1, e2e_latency_ms: values(1), loads: loadsOf(3, 1), gateway_id: 'gw_2', arrivals: 3 }),
    bed.window(60, { arrivals: 7 }),
  );
  await bed.report(120);
  await bed.report(120, 'gw_2');
  expect(await bed.merge()).toBe(2);
  const [first, second] = await read();
  expect(first).toMatchObject({
    at: bed.at(0),
    seconds: 60,
    gateways: 2,
    instances: 2,
    arrivals: 8,
    sessionArrivals: 2,
    refused: 1,
    held: values(2),
    inputTokens: values(4),
    outputTokens: values(3),
    kvUsage: null,
    waiting: null,
  });
  expect(first?.stats.counts.ok).toBe(5);
  expect(first?.stats.loads.histograms.e2e_latency_ms).toEqual({ 3: values(4) });
  expect(first?.stats.e2e_latency_ms).toEqual(values(5));
  expect(first?.starting.e2e_latency_ms).toEqual(values(1));
  expect(second).toMatchObject({ at: bed.at(60), arrivals: 7, gateways: 1 });
});

it('counts the requests of a gateway of the previous release as they end', async () => {
  await bed.store(bed.window(0, { ok: 3, connect_error: 1, retried: 1, arrivals: undefined }));
  expect(await connection.sql('select arrivals, refused, starting from dataplane_request_stats')).toEqual([
    { arrivals: null, refused: null, starting: null },
  ]);
  await bed.report(60);
  await bed.merge();
  expect(await bed.rows()).toEqual([{ id: 'rev', minute: 0, arrivals: 3 }]);
});

it('never merges a minute that a live gateway has not stored', async () => {
  await bed.store(bed.window(0), bed.window(61));
  await bed.report(180);
  await bed.report(59, 'gw_late');
  expect(await bed.merge()).toBe(0);
  expect(await bed.rows()).toEqual([]);
  await bed.store(bed.window(59, { gateway_id: 'gw_late', arrivals: 10 }));
  await bed.report(60, 'gw_late');
  await bed.merge();
  expect(await bed.rows()).toEqual([{ id: 'rev', minute: 0, arrivals: 11 }]);
  // It is gone without a word: what it has not stored is lost.
  await connection.sql(
    `update dataplane_gateways set seen_at = now() - interval '11 seconds' where gateway_id = 'gw_late'`,
  );
  await bed.merge();
  expect(await bed.rows()).toHaveLength(2);
});

it('waits for the first report of a gateway, and while there is none', async () => {
  await bed.store(bed.window(0));
  expect(await bed.merge()).toBe(0);
  await bed.report(600);
  await connection.sql(`insert into dataplane_gateways (gateway_id) values ('gw_new')`);
  expect(await bed.merge()).toBe(0);
  expect(await bed.position(60)).toEqual({ at: 0, revision: null });
});

it('changes nothing when it is repeated from an earlier position', async () => {
  await bed.store(bed.window(0), bed.window(60, { arrivals: 2 }));
  await bed.report(120);
  await bed.merge();
  const [records, rows] = [await read(), await bed.rows()];
  await bed.setPosition(60, 0);
  expect(await bed.merge()).toBe(2);
  expect(await bed.rows()).toEqual(rows);
  expect(await read()).toEqual(records);
});

it('loses and doubles nothing if it is cut off between two minutes, or between two parts of one', async () => {
  const ids = Array.from({ length: 25 }, (_, n) => `rev_${String(n).padStart(2, '0')}`);
  for (const second of [0, 60])
    await bed.store(...ids.map((revision_id) => bed.window(second, { revision_id, arrivals: 1 + second })));
  await bed.report(120);
  for (let steps = 0; ; steps += 1) {
    const [before, position] = [await bed.rows(), await bed.position(60)];
    await connection.sql('begin');
    const hasMore = await mergeNextRecords(db, 60);
    await connection.sql('rollback');
    expect([await bed.rows(), await bed.position(60)]).toEqual([before, position]);
    if (!hasMore) {
      expect(steps).toBe(6);
      break;
    }
    await bed.step();
    // A part is ten revisions of one minute, in the order of time.
    const last = ids[9 + 10 * (steps % 3)] ?? null;
    expect(await bed.position(60)).toEqual({ at: 60 * Math.floor((steps + 1) / 3), revision: last });
  }
  expect(await bed.rows()).toEqual([
    ...ids.map((id) => ({ id, minute: 0, arrivals: 1 })),
    ...ids.map((id) => ({ id, minute: 1, arrivals: 61 })),
  ]);
});

it('leaves a step that another worker is doing to that worker', async () => {
  await bed.store(bed.window(0), bed.window(60));
  await bed.report(120);
  const other = await connection.another();
  try {
    await other.sql('begin');
    expect(await mergeNextRecords(other.db, 60)).toBe(true);
    expect(await bed.step()).toBe(false);
    expect(await bed.rows()).toEqual([]);
    await other.sql('commit');
    expect(await bed.step()).toBe(true);
    expect(await bed.rows()).toHaveLength(2);
  } finally {
    await other.close();
  }
});

it('catches up after an outage in the order of time, and skips the time without rows', async () => {
  await bed.setPosition(60, -3 * 86_400);
  const minutes = [-4_000, -3_999, -30, 1];
  await bed.store(...minutes.map((minute) => bed.window(minute * 60)));
  await bed.report(600);
  const seen: number[] = [];
  while (await bed.step()) seen.push((await bed.rows()).at(-1)!.minute);
  expect(seen).toEqual(minutes);
  expect(await bed.position(60)).toEqual({ at: 600, revision: null });
});

it('merges complete hours from their minutes, after those', async () => {
  await bed.store(
    bed.window(0, { ok: 2, e2e_latency_ms: values(2), loads: loadsOf(2, 2), arrivals: 2 }),
    bed.window(1_800, { ok: 1, e2e_latency_ms: values(1), loads: loadsOf(2, 1), arrivals: 3, refused: 1 }),
    bed.window(1_801, { revision_id: 'rev_2' }),
    bed.window(3_600),
  );
  await bed.report(3_599);
  await bed.merge();
  expect(await bed.merge(3600)).toBe(0);
  await bed.report(3_660);
  await bed.merge();
  expect(await bed.merge(3600)).toBe(1);
  expect(await bed.rows(3600)).toEqual([
    { id: 'rev', minute: 0, arrivals: 5 },
    { id: 'rev_2', minute: 0, arrivals: 1 },
  ]);
  expect(await bed.position(3600)).toEqual({ at: 3_600, revision: null });
  const [hour] = await serviceRecords(db, ['rev'], { from: bed.at(0), minutesFrom: bed.at(3_600), to: bed.at(7_200) });
  expect(hour).toMatchObject({ at: bed.at(0), seconds: 3600, instances: 2, arrivals: 5, refused: 1 });
  expect(hour?.stats.loads.histograms.e2e_latency_ms).toEqual({ 2: values(3) });
});

it('adds the largest values that engines reported in a minute', async () => {
  const report = (kv_usage: number | null, waiting: number | null, revision_id = 'rev') => ({
    revision_id,
    tenant_id: 'ten',
    kv_usage,
    waiting,
  });
  await noteEnginePeaks(db, [report(0.25, null), report(0.5, null), report(null, null, 'rev_mute')]);
  await noteEnginePeaks(db, [report(0.75, 3), report(null, null)]);
  await noteEnginePeaks(db, [report(0.125, 1)]);
  await noteEnginePeaks(db, []);
  // The reports may be on both sides of a change of the minute.
  const noted =
    'select revision_id, max(kv_usage) as kv_usage, max(waiting) as waiting from dataplane_engine_peaks group by 1';
  expect(await connection.sql(noted)).toEqual([report(0.75, 3)].map(({ tenant_id: _tenant, ...peak }) => peak));
  await connection.sql(
    `delete from dataplane_engine_peaks where starts_at < (select max(starts_at) from dataplane_engine_peaks)`,
  );
  await connection.sql('update dataplane_engine_peaks set starts_at = $1, kv_usage = 0.75, waiting = 3', [bed.at(60)]);
  await bed.store(bed.window(0), bed.window(60), bed.window(61, { revision_id: 'rev_mute' }));
  await bed.report(120);
  await bed.merge();
  expect((await read()).map(({ kvUsage, waiting }) => [kvUsage, waiting])).toEqual([
    [null, null],
    [0.75, 3],
  ]);
  expect((await read(['rev_mute']))[0]?.kvUsage).toBeNull();
});

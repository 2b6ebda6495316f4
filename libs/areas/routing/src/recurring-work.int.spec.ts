import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { RoutingBed } from '../test/routing-bed.js';
import { RecordMerge } from './recurring-work.js';

let bed: RoutingBed;
beforeAll(async () => {
  bed = await RoutingBed.start();
});
afterAll(() => bed?.stop());
beforeEach(async () => {
  for (const table of ['dataplane_request_stats', 'dataplane_service_records', 'dataplane_gateways'])
    await bed.sql(`delete from ${table}`);
  await bed.sql(
    `update dataplane_record_merges set merged_until = date_bin('1 hour', now() - interval '3 hours', timestamptz '2000-01-01T00:00:00Z'), last_revision = null`,
  );
});

/** Stores a request that a gateway recorded in the first second of each of these minutes, after three hours ago. */
const recorded = (minutes: readonly number[]) =>
  bed.sql(
    `insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, server_error, connect_error,
       cancelled, retried, streamed, tokens_in, tokens_out, histograms, arrivals)
     select 'rev', date_bin('1 hour', now() - interval '3 hours', timestamptz '2000-01-01T00:00:00Z') + make_interval(mins => minute), 'gw', 'ten_a', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}', 1
     from unnest($1::int[]) as minute`,
    [minutes],
  );
/** A gateway lives, and for longer than a test takes. */
const alive = () =>
  bed.sql(
    `insert into dataplane_gateways (gateway_id, stats_until, seen_at) values ('gw', now(), now() + interval '1 hour')`,
  );
const counts = () =>
  bed.sql<{ seconds: number; records: number; arrivals: number }>(
    'select seconds, count(*)::int as records, sum(arrivals)::int as arrivals from dataplane_service_records group by 1 order by 1',
  );
const run = () => bed.runNow('service-records');

it('merges all complete minutes and hours in one run, and nothing in the next', async () => {
  await recorded([0, 1, 59, 60, 90]);
  await run();
  expect(await counts()).toEqual([]);
  await alive();
  await run();
  const merged = [
    { seconds: 60, records: 5, arrivals: 5 },
    { seconds: 3600, records: 2, arrivals: 5 },
  ];
  expect(await counts()).toEqual(merged);
  await run();
  expect(await counts()).toEqual(merged);
});

it('several workers share the minutes, and each is merged once', async () => {
  await recorded(Array.from({ length: 120 }, (_, minute) => minute));
  await alive();
  await Promise.all([run(), run(), run()]);
  await run();
  expect(await counts()).toEqual([
    { seconds: 60, records: 120, arrivals: 120 },
    { seconds: 3600, records: 2, arrivals: 120 },
  ]);
});

it('a run ends when the process stops, and the next one continues', async () => {
  await recorded([0, 1, 2]);
  await alive();
  const stopping = new AbortController();
  let steps = 0;
  await bed.app.get(RecordMerge, { strict: false }).run((scope, work) => {
    if ((steps += 1) === 2) stopping.abort();
    return bed.database.tx(scope, work);
  }, stopping.signal);
  expect(await counts()).toEqual([{ seconds: 60, records: 2, arrivals: 2 }]);
  await run();
  expect(await counts()).toContainEqual({ seconds: 60, records: 3, arrivals: 3 });
});

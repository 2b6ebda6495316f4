import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { emptyCounts, emptyHistogram, histogramsOf, reportGateway, writeWindows } from '@slipway/dataplane';
import { RoutingBed } from '../../test/routing-bed.js';
import { RecentSeries } from './recent-series.js';

const START = Date.parse('2026-01-01T12:00:00Z');
const at = (second: number) => new Date(START + second * 1_000);

let bed: RoutingBed;
let recent: RecentSeries;
let now: number;

beforeAll(async () => {
  bed = await RoutingBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  now = 1_000;
  recent = new RecentSeries(() => now);
  await bed.database.tx('system', (tx) => tx.query('delete from dataplane_request_stats'));
  await completeUntil(30);
});

const completeUntil = (second: number) =>
  bed.database.tx('system', (tx) =>
    reportGateway(tx, { gatewayId: 'gw', statsUntil: at(second), followed: [], inFlight: [] }),
  );
const record = (second: number, revision_id = 'rev_1') =>
  bed.database.tx('system', (tx) =>
    writeWindows(tx, [
      {
        revision_id,
        tenant_id: 'ten_a',
        gateway_id: 'gw',
        window_start: at(second).toISOString(),
        ...emptyCounts(),
        ok: 1,
        streamed: 0,
        tokens_in: 0,
        tokens_out: 0,
        ...histogramsOf(emptyHistogram),
        loads: null,
        callers: null,
        waits: null,
        faults: null,
      },
    ]),
  );
/** Returns the seconds at which steps start, by revision. */
async function read(from: number, to: number, { stepSeconds = 10, about = 'dep', most = 10 } = {}) {
  const revisionIds = ['rev_3', 'rev_2', 'rev_1'];
  const asked = { from: at(from), to: at(to), stepSeconds, about, revisionIds, most };
  const { steps, hasMore } = await bed.database.tx({ tenantId: 'ten_a' }, (tx) => recent.read(tx, asked));
  const told = [...steps].map(([id, some]) => [id, some.map((step) => (step.at.getTime() - START) / 1_000)]);
  return { ...Object.fromEntries(told), ...(hasMore && { hasMore }) };
}

it('reads steps that may change again, and complete ones after half a minute', async () => {
  for (const second of [5, 15, 35]) await record(second);
  expect(await read(0, 40)).toEqual({ rev_1: [0, 10, 30] });
  for (const second of [25, 31, 45]) await record(second);
  await record(36, 'rev_2');
  expect(await read(0, 50)).toEqual({ rev_1: [0, 10, 30, 40], rev_2: [30] });
  expect(await read(10, 50)).toEqual({ rev_1: [10, 30, 40], rev_2: [30] });
  now += 29_000;
  expect(await read(10, 50)).toEqual({ rev_1: [10, 30, 40], rev_2: [30] });
  now += 1_001;
  expect(await read(10, 50)).toEqual({ rev_1: [10, 20, 30, 40], rev_2: [30] });
});

it('keeps no step that is incomplete or cut off', async () => {
  await completeUntil(30);
  await record(5);
  expect(await read(0, 25)).toEqual({ rev_1: [0] });
  await record(20);
  expect(await read(0, 25)).toEqual({ rev_1: [0, 20] });
  await record(10);
  expect(await read(0, 40)).toEqual({ rev_1: [0, 20] });
  expect(await read(0, 15)).toEqual({ rev_1: [0, 10] });
});

it('keeps different questions apart, and reads steps before the kept ones', async () => {
  await record(15);
  expect(await read(10, 40)).toEqual({ rev_1: [10] });
  await record(5);
  await record(25);
  expect(await read(10, 40)).toEqual({ rev_1: [10] });
  expect(await read(10, 40, { about: 'other' })).toEqual({ rev_1: [10, 20] });
  expect(await read(10, 40, { stepSeconds: 5 })).toEqual({ rev_1: [15, 25] });
  expect(await read(0, 40)).toEqual({ rev_1: [0, 10, 20] });
});

it('returns at most the requested number of revisions, whether kept or new', async () => {
  await record(5, 'rev_1');
  await record(5, 'rev_2');
  expect(await read(0, 40, { most: 2 })).toEqual({ rev_2: [0], rev_1: [0] });
  await record(35, 'rev_3');
  expect(await read(0, 40, { most: 2 })).toEqual({ rev_3: [30], rev_2: [0], hasMore: true });
  expect(await read(0, 40, { most: 1, about: 'fewer' })).toEqual({ rev_3: [30], hasMore: true });
  // A result that left out revisions is not kept, because those may be among the newest of a later time.
  await record(6, 'rev_3');
  expect(await read(0, 40, { most: 1, about: 'fewer' })).toEqual({ rev_3: [0, 30], hasMore: true });
});

import { expect, it } from '@jest/globals';
import type { UsageWindow } from '@slipway/dataplane';
import { UsageBook, type UsageRecord } from './usage.js';

const record: UsageRecord = {
  tenantId: 'ten',
  tokenId: 'tok',
  revisionId: 'rev',
  instanceId: 'ins',
  slug: null,
  outcome: 'ok',
  upstreamFaults: 0,
  tokensIn: 3,
  tokensOut: 5,
  durationMs: 100,
  attempts: 1,
  inFlightSum: 2,
};

it('counts a request once, as it ended for its client, with the faults that a retry hid', () => {
  const usage = new UsageBook('gw', 0);
  usage.add(record, 0);
  usage.add({ ...record, upstreamFaults: 1, attempts: 2, inFlightSum: 7 }, 9_999);
  usage.add({ ...record, outcome: 'cancelled', slug: 'acme/tiny' }, 9_999);
  expect(usage.take(9_999)).toEqual([]);
  const rows = usage.take(10_000);
  expect(rows).toMatchObject([
    {
      gateway_id: 'gw',
      window_start: '1970-01-01T00:00:00.000Z',
      row_number: 0,
      tenant_id: 'ten',
      token_id: 'tok',
      revision_id: 'rev',
      instance_id: 'ins',
      slug: null,
      ok: 2,
      upstream_faults: 1,
      tokens_in: 6,
      tokens_out: 10,
      duration_ms: 200,
      attempts: 3,
      mean_in_flight: 3,
    },
    { row_number: 1, slug: 'acme/tiny', ok: 0, cancelled: 1 },
  ]);
  expect(usage.take(10_001)).toEqual([]);
});

it('has no mean for requests that reached no instance', () => {
  const usage = new UsageBook('gw', 0);
  usage.add({ ...record, instanceId: null, outcome: 'server_error', attempts: 0, inFlightSum: 0 }, 0);
  expect(usage.takeAll()).toMatchObject([{ instance_id: null, server_error: 1, attempts: 0, mean_in_flight: 0 }]);
  expect(usage.takeAll()).toEqual([]);
});

it('distinguishes only as many tokens as a window may, and drops their requests only when it must', () => {
  const usage = new UsageBook('gw', 0);
  for (let n = 0; n < 5_003; n += 1) usage.add({ ...record, tokenId: `tok_${n}` }, 0);
  for (let n = 0; n < 5_001; n += 1) usage.add({ ...record, tokenId: 'tok_late', revisionId: `rev_${n}` }, 0);
  expect(usage.lostRows).toBe(2);
  const rows = usage.take(10_000);
  expect(rows).toHaveLength(10_000);
  expect(rows[5_000]).toMatchObject({ token_id: null, instance_id: null, revision_id: 'rev', ok: 3 });
});

it('keeps rows that could not be stored, up to a bound, and never reopens a window', () => {
  const usage = new UsageBook('gw', 0);
  usage.add(record, 20_000);
  usage.add(record, 1_000);
  const rows = usage.take(30_000);
  expect(rows.map(({ window_start, ok }) => [window_start, ok])).toEqual([['1970-01-01T00:00:20.000Z', 2]]);
  usage.putBack(rows);
  expect(usage.take(30_001)).toEqual(rows);
  usage.putBack(new Array<UsageWindow>(50_005).fill(rows[0] as UsageWindow));
  expect([usage.take(30_002).length, usage.lostRows]).toEqual([50_000, 5]);
});

import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  emptyCounts,
  emptyHistogram,
  HistogramRecorder,
  histogramsOf,
  readMetric,
  reportGateway,
  statsBetween,
  writeWindows,
  type Histogram,
  type StatsWindow,
} from '@slipway/dataplane';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import { RoutingBed } from '../../test/routing-bed.js';

const FROM = '2026-01-01T12:00:00.000Z';
const TO = '2026-01-01T12:01:00.000Z';

let bed: RoutingBed;
let count = 0;
let deployment: Deployment;
let one: Revision;
let two: Revision;

beforeAll(async () => {
  bed = await RoutingBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  count += 1;
  deployment = bed.neighbours.addDeployment(`metered${count}`);
  one = bed.neighbours.addRevision(deployment, 1);
  two = bed.neighbours.addRevision(deployment, 2);
});

const get = (query: Record<string, string> = { from: FROM, to: TO, step: '10' }, tenant?: string) =>
  bed.send('GET', `/deployments/${deployment.name}/metrics?${new URLSearchParams(query)}`, { tenant });
const code = (answer: { status: number; body: any }) => `${answer.status} ${answer.body.error?.code}`;
const at = (second: number) => new Date(Date.parse(FROM) + second * 1_000);

function latencies(...values: number[]): Histogram {
  const recorder = new HistogramRecorder();
  for (const value of values) recorder.record(value);
  return recorder.snapshot();
}

const windowOf = (revision: Revision, second: number, given: Partial<StatsWindow> = {}): StatsWindow => ({
  revision_id: revision.id,
  tenant_id: revision.tenantId,
  gateway_id: 'gw',
  window_start: at(second).toISOString(),
  ...emptyCounts(),
  streamed: 0,
  tokens_in: 0,
  tokens_out: 0,
  ...histogramsOf(emptyHistogram),
  loads: null,
  callers: null,
  waits: null,
  faults: null,
  ...given,
});
const record = (...windows: StatsWindow[]) => bed.database.tx('system', (tx) => writeWindows(tx, windows));

it('reports for each revision and step the values that a gate would read', async () => {
  await record(
    windowOf(one, 0, {
      ok: 14,
      client_error: 1,
      overloaded: 5,
      overloaded_retried: 1,
      server_error: 1,
      abandoned: 2,
      tokens_in: 50,
      tokens_out: 400,
      cancelled: 3,
    }),
    windowOf(one, 9, { ok: 1, connect_error: 1, retried: 1, streamed: 1, e2e_latency_ms: latencies(100, 200, 300) }),
    windowOf(one, 10, {
      ok: 5,
      ttft_ms: latencies(10, 20),
      itl_ms: latencies(1, 1),
      longest_gap_ms: latencies(8, 8),
      streamed: 2,
    }),
    windowOf(two, 59, { ok: 1 }),
    windowOf(two, 60, { ok: 1_000 }),
  );
  const { status, body } = await get();
  expect(status).toBe(200);
  expect(body).toMatchObject({ deployment: deployment.name, from: FROM, to: TO, step_seconds: 10, has_more: false });
  expect(body.data.map(({ revision }: any) => revision)).toEqual([two.name, one.name]);
  const [newer, older] = body.data;
  expect(older.points.map((point: any) => point.at)).toEqual([FROM, at(10).toISOString()]);
  expect(older.points[0]).toMatchObject({
    seconds: 10,
    attempts: {
      ok: 15,
      client_error: 1,
      overloaded: 5,
      overloaded_retried: 1,
      server_error: 1,
      connect_error: 1,
      abandoned: 2,
      cancelled: 3,
      retried: 1,
    },
    requests_per_s: 2.1,
    streamed: 1,
    tokens_in: 50,
    tokens_out: 400,
    tokens_out_per_s: 40,
    instances: null,
    error_rate: { rate: 0.047619, samples: 21 },
    client_error_rate: { rate: 0.047619, samples: 21 },
    overloaded_rate: { rate: 0.190476, samples: 21 },
    abandoned_rate: { rate: 0.086957, samples: 23 },
    upstream_fault_rate: { rate: 0.086957, samples: 23 },
    ttft_ms: { avg: null, p50: null, p90: null, p95: null, p99: null, samples: 0 },
  });
  expect(older.points[1]).toMatchObject({
    ttft_ms: { samples: 2 },
    itl_ms: { avg: 1, samples: 2 },
    longest_gap_ms: { avg: 8 },
  });
  expect(older.total).toMatchObject({ at: FROM, seconds: 60, attempts: { ok: 20 }, requests_per_s: 0.433 });
  expect(newer.total.attempts.ok).toBe(1);

  const judged = await bed.database.tx('system', (tx) => statsBetween(tx, one.id, at(0), at(60)));
  for (const metric of ['ttft_ms', 'itl_ms', 'e2e_latency_ms'] as const)
    for (const stat of ['avg', 'p50', 'p90', 'p95', 'p99'] as const)
      expect(older.total[metric][stat]).toBeCloseTo(readMetric(metric, stat, judged).value as number, 0);
  expect(older.total.e2e_latency_ms).toMatchObject({ avg: 200, samples: 3 });
});

it('reports a single revision, even if it had no requests', async () => {
  await record(windowOf(two, 0, { ok: 1 }));
  const only = await get({ from: FROM, to: TO, revision: '1' });
  expect(only.body.data).toMatchObject([
    {
      revision: one.name,
      in_flight: 0,
      held: 0,
      points: [],
      total: { at: FROM, attempts: { ok: 0 }, instances: null },
    },
  ]);
  expect((await get({ from: FROM, to: TO })).body.data).toHaveLength(1);
  expect(code(await get({ revision: 'nobody' }))).toBe('404 revision_not_found');
});

it('reports the requests in flight now, and up to which time the records are complete', async () => {
  await record(windowOf(one, 50, { ok: 8, tokens_out: 100 }));
  await bed.database.tx('system', (tx) =>
    reportGateway(tx, {
      gatewayId: 'gw',
      statsUntil: at(54),
      followed: [],
      inFlight: [{ revision_id: one.id, tenant_id: 'ten_a', in_flight: 3, held: 2 }],
    }),
  );
  const { body } = await get();
  expect(body.complete_until).toBe(at(54).toISOString());
  expect(body.data).toMatchObject([
    {
      in_flight: 3,
      held: 2,
      total: { seconds: 54 },
      points: [{ seconds: 4, requests_per_s: 2, tokens_out_per_s: 25 }],
    },
  ]);
});

it('reports the ten newest revisions with requests, and that there are more', async () => {
  const revisions = Array.from({ length: 10 }, (_, index) => bed.neighbours.addRevision(deployment, index + 3));
  await record(...[one, ...revisions].map((revision) => windowOf(revision, 0, { ok: 1 })));
  const { body } = await get();
  expect(body.has_more).toBe(true);
  expect(body.data.map(({ revision }: any) => revision)).toEqual(revisions.map(({ name }) => name).reverse());
});

it('answers 404 to another tenant before all other errors, and refuses too large a range', async () => {
  await record(windowOf(one, 0, { ok: 1 }));
  expect(code(await get({ step: '0' }, 'ten_b'))).toBe('404 deployment_not_found');
  expect(code(await get({ from: TO, to: FROM }, 'ten_b'))).toBe('404 deployment_not_found');
  expect(code(await get({ from: TO, to: FROM }))).toBe('422 validation_failed');
  expect(code(await get({ from: FROM }))).toBe('422 validation_failed');
  expect(code(await get({ from: FROM, to: TO, step: '10801' }))).toBe('422 validation_failed');
  expect(code(await get({ from: 'yesterday' }))).toBe('422 validation_failed');
  expect(code(await get({ step: 'long' }))).toBe('400 invalid_parameter');
  expect((await get({ from: '0001-01-01T00:00:00Z', to: '0001-01-01T00:00:10Z' })).status).toBe(200);
  expect((await get({})).status).toBe(200);
});

it('does not show a tenant what another tenant recorded, even for its own revision', async () => {
  await record({ ...windowOf(one, 0, { ok: 1 }), tenant_id: 'ten_b' });
  expect((await get()).body.data).toEqual([]);
});

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { emptyHistogram, writeWindows, type StatsWindow } from '@slipway/dataplane';
import { TargetBed, type InstancesProcess } from '../../test/target-bed.js';
import { RefusedRequests } from './refused-requests.js';
import { CLAIM_FAULTS } from './refused-requests.query.js';

jest.setTimeout(60_000);

let bed: TargetBed;
let worker: InstancesProcess;
let windows = 0;
beforeAll(async () => {
  bed = await TargetBed.create(2, { withTwin: true });
  worker = await bed.process('worker');
  await worker.want('rev_1', bed.twinSpec());
});
afterAll(() => bed?.dispose());

const NONE = { ok: 0, client_error: 0, overloaded: 0, connect_error: 0, abandoned: 0, cancelled: 0, retried: 0 };
const TIMES = {
  ttft_ms: emptyHistogram(),
  itl_ms: emptyHistogram(),
  longest_gap_ms: emptyHistogram(),
  e2e_latency_ms: emptyHistogram(),
  output_tokens_per_s: emptyHistogram(),
};

/** A second in the recent past with failed attempts. */
function failed(faults: StatsWindow['faults'], revision_id = 'rev_1', secondsAgo = 5): StatsWindow {
  const about = { revision_id, tenant_id: 'ten_a', gateway_id: `gw_${(windows += 1)}` };
  const window_start = new Date(Math.floor(Date.now() / 1000 - secondsAgo) * 1000).toISOString();
  const counts = { ...NONE, server_error: 3, overloaded_retried: 0, streamed: 0, tokens_in: 0, tokens_out: 0 };
  return { ...about, window_start, ...counts, ...TIMES, loads: null, callers: null, waits: null, faults };
}

/** In one transaction, because the worker itself also runs the work that is tested. */
function write(...rows: StatsWindow[]): Promise<void> {
  return worker.database.tx('system', (tx) => writeWindows(tx, rows));
}

async function run(): Promise<void> {
  const refused = worker.context.get(RefusedRequests);
  await refused.run((scope, work) => worker.database.tx(scope, work));
}

async function reported(): Promise<unknown[]> {
  const events = await worker.events();
  return events.filter(({ type }) => type === 'revision.misconfigured').map(({ data }) => data);
}

it('reports each fault of the configuration once an hour, and no other fault', async () => {
  await write(
    failed({ unreadable: 3 }),
    failed({ credential: 3 }, 'rev_of_a_binding'),
    failed({ credential: 3 }, 'rev_1', 600),
  );
  await run();
  expect(await reported()).toEqual([]);

  await write(failed({ credential: 2, status: 1 }), failed({ credential: 3 }));
  await Promise.all([run(), run(), run()]);
  const credential = expect.objectContaining({ revision: 'chat-1', fault: 'credential', attempts: 5 });
  expect(await reported()).toEqual([credential]);

  await write(failed({ model_missing: 3, redirect: 3 }));
  for (let time = 0; time < 3; time += 1) await run();
  const others = ['model_missing', 'redirect'].map((fault) => expect.objectContaining({ fault, attempts: 3 }));
  expect(await reported()).toHaveLength(3);
  expect(await reported()).toEqual(expect.arrayContaining([credential, ...others]));

  await worker.database.read(
    'system',
    `update workloads set reported_faults = jsonb_build_object('credential', now() - interval '61 minutes', 'redirect', now()) returning 1`,
  );
  for (let time = 0; time < 3; time += 1) await run();
  expect((await reported()).slice(3)).toHaveLength(2);
});

it('counts no fault that was reported before as one of those that a run reports', async () => {
  await worker.want('rev_2', bed.twinSpec());
  await worker.database.read(
    'system',
    `update workloads set reported_faults = jsonb_build_object('credential', now(), 'model_missing', now()) returning 1`,
  );
  const revisions = ['rev_1', 'rev_1', 'rev_2', 'rev_2'];
  const faults = ['credential', 'model_missing', 'credential', 'redirect'];
  const claim = () => worker.database.tx('system', (tx) => tx.query(CLAIM_FAULTS, [revisions, faults, 1]));
  expect(await claim()).toMatchObject([{ revision_id: 'rev_2', fault: 'redirect' }]);
  expect(await claim()).toEqual([]);
});

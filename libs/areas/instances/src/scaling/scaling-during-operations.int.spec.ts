import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { ScalingSpec } from '@slipway/contracts';
import { reportGateway } from '@slipway/dataplane';
import { newId } from '@slipway/platform-database';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import type pg from 'pg';
import { addOperation, TargetBed, type InstancesProcess } from '../../test/target-bed.js';
import type { FakeDeployments } from '../../test/worker-module.js';
import { Scaler } from './scaler.js';
import { READ_SCALING_DIRECTIONS } from './scaling.query.js';

/** Servers of a target that needs no process for them, so that a test about their number is quick. */
let bed: TargetBed;
let worker: InstancesProcess;
let owner: pg.Client;
let deployments: FakeDeployments;
let operationId: string;
let stable: string;
let candidate: string;

beforeAll(async () => {
  bed = await TargetBed.create(4, { withTwin: true, timings: { leaveMinSeconds: 0.1 } });
  bed.cluster.setHealthy(true);
  worker = await bed.process('worker');
  owner = await bed.owner();
  deployments = worker.context.get<FakeDeployments>(DEPLOYMENTS);
});
afterAll(async () => {
  await owner?.end();
  await bed?.dispose();
});
beforeEach(async () => {
  [operationId, stable, candidate] = [newId('op'), newId('rev'), newId('rev')];
  await addOperation(owner, operationId);
  deployments.operation = operationId;
});

const TARGET = 2;
const MOST = 4;
const SCALING: ScalingSpec = {
  min_replicas: 1,
  max_replicas: MOST,
  target_in_flight: TARGET,
  scale_down_after_seconds: 30,
};

/** Starts both revisions of a rollout. The operation retains only the candidate. */
const rollOut = async () => {
  await worker.want(stable, bed.twinSpec({ scaling: SCALING }), 'route');
  await worker.want(candidate, bed.twinSpec({ scaling: SCALING }), `operation:${operationId}`);
  await worker.retain(candidate, 'route');
  for (const revision of [stable, candidate]) await worker.ready(revision);
};
const stop = async () => {
  await load(0, 0);
  await worker.release(candidate, `operation:${operationId}`);
  for (const revision of [stable, candidate]) await worker.release(revision, 'route');
  for (const revision of [stable, candidate]) await worker.retired(revision);
};
const waits = (columns: { status?: string; waiting_for?: string | null; awaiting?: string | null; pause?: object }) =>
  owner.query('update operations set status = $2, waiting_for = $3, awaiting = $4, pause = $5 where id = $1', [
    operationId,
    columns.status ?? 'waiting',
    columns.waiting_for ?? null,
    columns.awaiting ?? null,
    columns.pause ?? null,
  ]);
const load = (ofStable: number, ofCandidate: number) => {
  const of = (revision_id: string, in_flight: number) => ({ revision_id, tenant_id: 'ten_a', in_flight });
  const inFlight = [of(stable, ofStable), of(candidate, ofCandidate)];
  return worker.database.tx('system', (tx) =>
    reportGateway(tx, { gatewayId: 'gw', statsUntil: null, followed: [], inFlight }),
  );
};
const run = () => worker.context.get(Scaler).run((scope, work) => worker.database.tx(scope, work));
/** Lets so many seconds pass for the time of low load, instead of those that have passed since `begin`. */
const pass = (seconds: number, begin: number) =>
  owner.query('update workload_scalings set low_since = low_since - make_interval(secs => $1)', [
    seconds - (performance.now() - begin) / 1_000,
  ]);
const numbers = async (): Promise<[stable: number, candidate: number]> => {
  const { rows } = await owner.query('select revision_id, replicas from workloads where revision_id = any($1)', [
    [stable, candidate],
  ]);
  const of = (revision: string) => rows.find(({ revision_id }) => revision_id === revision).replicas as number;
  return [of(stable), of(candidate)];
};

const PAUSE = { at: '2030-01-01T00:00:00Z', by: { type: 'service', id: 'tok_1' }, reason: null };

it.each<[string, 'none' | 'up' | 'both', Parameters<typeof waits>[0]]>([
  ['works', 'none', { status: 'running' }],
  ['is to be paused while it works', 'none', { status: 'running', pause: PAUSE }],
  ['waits for capacity', 'none', { waiting_for: 'capacity', pause: PAUSE }],
  ['is being cancelled', 'none', { status: 'cancelling', waiting_for: 'soak' }],
  ['soaks', 'up', { waiting_for: 'soak' }],
  ['waits for requests to judge', 'up', { waiting_for: 'traffic' }],
  ['is paused during a soak', 'both', { waiting_for: 'soak', pause: PAUSE }],
  ['is paused', 'both', { waiting_for: 'resume', pause: PAUSE }],
  ['waits for an approval', 'both', { waiting_for: 'approval', awaiting: 'approval' }],
  ['waits for a decision', 'both', { waiting_for: 'decision', awaiting: 'pause' }],
  ['waits for a person since a previous release', 'both', { awaiting: 'pause' }],
  ['has ended', 'both', { status: 'succeeded' }],
])('if an operation %s, the load may change the number in these directions: %s', async (_what, expected, columns) => {
  await waits(columns);
  const rows = await worker.database.read('system', READ_SCALING_DIRECTIONS, [operationId]);
  expect(rows).toEqual([{ directions: expected }]);
});

it('during a pause of ten minutes under changing load, each instance has at most 1.5 times the intended requests', async () => {
  await rollOut();
  await waits({ waiting_for: 'approval', awaiting: 'approval' });
  const STEP_SECONDS = 5;
  const loads = [2, 8, 14, 5, 1, 12];
  const seen: [number, number][] = [];
  for (const total of loads) {
    for (let seconds = 0; seconds < 600 / loads.length; seconds += STEP_SECONDS) {
      // Both have half of the traffic.
      const each = total / 2;
      await load(Math.ceil(each), Math.floor(each));
      const begin = performance.now();
      await run();
      const now = await numbers();
      // A start takes less than a step.
      await worker.ready(stable, now[0]);
      await worker.ready(candidate, now[1]);
      for (const [requests, replicas] of [
        [Math.ceil(each), now[0]],
        [Math.floor(each), now[1]],
      ] as const)
        expect(replicas === MOST || requests / replicas <= 1.5 * TARGET).toBe(true);
      await pass(STEP_SECONDS, begin);
      seen.push(now);
    }
  }
  const lastOf = (index: number) => seen[(seen.length / loads.length) * (index + 1) - 1];
  expect(loads.map((_, index) => lastOf(index))).toEqual([
    [1, 1],
    [2, 2],
    [4, 4],
    // The candidate keeps what it needs for all five.
    [2, 4],
    [1, 2],
    [3, 3],
  ]);
  await stop();
});

it('while an operation works the numbers stay, during a soak both rise with the load, and in a pause they fall', async () => {
  await rollOut();
  await load(3, 5);
  await run();
  expect(await numbers()).toEqual([1, 1]);
  await waits({ waiting_for: 'soak' });
  await run();
  expect(await numbers()).toEqual([2, 3]);
  await worker.ready(stable, 2);
  await worker.ready(candidate, 3);
  await load(0, 0);
  await run();
  await pass(600, performance.now());
  await run();
  expect(await numbers()).toEqual([2, 3]);
  await waits({ waiting_for: 'resume', pause: PAUSE });
  await run();
  expect(await numbers()).toEqual([1, 2]);
  await stop();
});

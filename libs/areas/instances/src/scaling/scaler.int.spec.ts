import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { RevisionSpec, ScalingSpec } from '@slipway/contracts';
import { reportGateway, type BackendSleep } from '@slipway/dataplane';
import { newId } from '@slipway/platform-database';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { isAlive, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import type { FakeDeployments } from '../../test/worker-module.js';
import { InstanceKeeper } from '../lifecycle/instance-keeper.js';
import { Scaler } from './scaler.js';

const QUOTA = 6;
/** For each target. */
const MAX_INSTANCES = 5;
const leaveMinSeconds = 0.3;
let bed: TargetBed;
let worker: InstancesProcess;
let scaler: Scaler;
let deployments: FakeDeployments;
let revision: string;

beforeAll(async () => {
  bed = await TargetBed.create(MAX_INSTANCES, { withTwin: true, timings: { leaveMinSeconds } });
  const targets = bed.config.operator.targets.map((target) =>
    target.name === 'twin' ? { ...target, max_instances: MAX_INSTANCES, share_per_tenant: 'all' as const } : target,
  );
  worker = await bed.process('worker', { operator: { ...bed.config.operator, targets, quotas: { instances: QUOTA } } });
  scaler = worker.context.get(Scaler);
  deployments = worker.context.get<FakeDeployments>(DEPLOYMENTS);
});
afterAll(() => bed?.dispose());
beforeEach(() => {
  revision = newId('rev');
});
afterEach(async () => {
  deployments.scaling.clear();
  // Otherwise the stop would wait for requests that a test has left in flight.
  await load(0);
  for (const holder of ['route', 'operation:op_1'] as const) await worker.release(revision, holder);
  await worker.retired(revision);
});

const spec = (scaling: ScalingSpec, args = {}): RevisionSpec => bed.spec(args, { scaling });
/** On a target whose servers need no process, for tests of the number alone. */
const numbered = (scaling: ScalingSpec): RevisionSpec => bed.twinSpec({ scaling });
/** Starts a revision that a route uses and on which no operation works. */
const serve = async (scaling: ScalingSpec, args = {}) => {
  await worker.want(revision, spec(scaling, args));
  await worker.retain(revision, 'route');
  await worker.release(revision);
};
const run = () => scaler.run((scope, work) => worker.database.tx(scope, work));
/** Reports the requests at the gateway. `is_used` keeps a revision awake. */
const load = (in_flight: number, held = 0, is_used = in_flight + held > 0) =>
  worker.database.tx('system', (tx) =>
    reportGateway(tx, {
      gatewayId: 'gw',
      statsUntil: null,
      followed: [],
      inFlight: [{ revision_id: revision, tenant_id: 'ten_a', in_flight, held, is_used }],
    }),
  );
/** Moves a stored time into the past, as if the seconds had passed. */
const pass = async (
  column: 'low_since' | 'used_at' | 'failed_at' | 'activated_at' | 'ready_since',
  seconds: number,
) => {
  const tables: Record<string, string> = {
    used_at: 'dataplane_inflight',
    activated_at: 'workloads',
    ready_since: 'instances',
  };
  const table = tables[column] ?? 'workload_scalings';
  await worker.database.read(
    'system',
    `update ${table} set ${column} = ${column} - make_interval(secs => $2) where revision_id = $1 returning 1`,
    [revision, seconds],
  );
};
const failedJustNow = () =>
  worker.database.read(
    'system',
    'update workload_scalings set failed_at = clock_timestamp() where revision_id = $1 returning 1',
    [revision],
  );
const replicas = async () =>
  (
    await worker.database.read<{ replicas: number }>(
      'system',
      'select replicas from workloads where revision_id = $1',
      [revision],
    )
  )[0]?.replicas;
const asleep = async () =>
  (
    await worker.database.read<{ asleep: BackendSleep | null; instances: object[] }>(
      'system',
      'select asleep, instances from dataplane_backends where revision_id = $1',
      [revision],
    )
  )[0];
const scaled = async () =>
  (await worker.events())
    .filter(({ type, data }) => type === 'deployment.scaled' && data['revision'] === `chat-${revision.slice(4)}`)
    .map(({ data }) => data);

it('the scaler scales up at once and down by one, with an event that has the numbers, and interrupts no request', async () => {
  await serve({ min_replicas: 1, max_replicas: 3, target_in_flight: 2 });
  await worker.ready(revision);
  await load(5);
  await run();
  expect(await replicas()).toBe(3);
  await worker.ready(revision, 3);
  await run();
  expect(await scaled()).toEqual([
    expect.objectContaining({ from: 1, to: 3, reason: 'in_flight', in_flight: 5, target_in_flight: 2, held: 0 }),
  ]);

  await load(3);
  await run();
  await pass('low_since', 299);
  await run();
  expect(await replicas()).toBe(3);
  await pass('low_since', 2);
  // It still answers one request.
  const [, , last] = await worker.rows(revision);
  const leaving = (in_flight: number) =>
    worker.database.tx('system', (tx) =>
      reportGateway(tx, {
        gatewayId: 'gw',
        statsUntil: null,
        followed: [],
        inFlight: [{ revision_id: revision, tenant_id: 'ten_a', in_flight: 3, instances: { [last!.id]: in_flight } }],
      }),
    );
  await run();
  expect(await replicas()).toBe(2);
  const pid = (await bed.starts()).find(({ instance }) => instance === last!.id)!.pid;
  await until('it takes no new requests', async () => (await asleep())?.instances.length === 2);
  const [{ since } = { since: new Date() }] = await worker.database.read<{ since: Date }>(
    'system',
    'select state_since as since from instances where id = $1',
    [last!.id],
  );
  const tasks = jest.spyOn(InstanceKeeper.prototype, 'perform');
  await until('three checks after the least time', async () => {
    await leaving(1);
    if (Date.now() <= since.getTime() + leaveMinSeconds * 1_000) tasks.mockClear();
    return (
      tasks.mock.calls.filter(([{ kind, instance }]) => kind === 'terminate' && instance.id === last!.id).length > 3
    );
  });
  tasks.mockRestore();
  expect(isAlive(pid)).toBe(true);
  await leaving(0);
  await until('it is stopped', async () => !isAlive(pid));
  expect((await scaled()).at(-1)).toMatchObject({ from: 3, to: 2, reason: 'low_load', in_flight: 3 });
  expect(await worker.status(revision)).toMatchObject({ desired: 2, ready: 2, isAsleep: false });
});

it('a revision sleeps when no requests come, and wakes once for all that wait', async () => {
  await serve({ min_replicas: 0, max_replicas: 3, target_in_flight: 2, idle_seconds: 60 });
  await worker.ready(revision);
  await load(0, 0, true);
  await pass('activated_at', 1_000);
  await pass('ready_since', 1_000);
  await run();
  expect(await replicas()).toBe(1);
  await pass('used_at', 61);
  await load(1);
  await pass('used_at', 61);
  await run();
  // A request in progress keeps it awake, however long it takes.
  expect(await replicas()).toBe(1);
  await load(0);
  await run();
  expect(await replicas()).toBe(0);
  expect(await asleep()).toMatchObject({ asleep: { max_seconds: 290, failures: 0, failure: null }, instances: [] });
  await until('nothing runs', async () => (await worker.status(revision))?.alive === 0);
  expect(await worker.status(revision)).toMatchObject({ desired: 0, ready: 0, isAsleep: true });

  await load(0, 50);
  await Promise.all([run(), run(), run()]);
  await run();
  expect(await replicas()).toBe(1);
  await worker.ready(revision);
  expect(await asleep()).toMatchObject({ asleep: null, instances: [expect.anything()] });
  expect(await startsOfIt()).toBe(2);
  expect((await scaled()).map(({ reason }) => reason)).toEqual(['idle', 'requests_held']);
  await load(0);
});

/** As if no request had come for this long. */
const putToSleep = async () => {
  await load(0, 0, true);
  await pass('activated_at', 1_000);
  await pass('ready_since', 1_000);
  await pass('used_at', 1_000);
  await run();
  expect(await replicas()).toBe(0);
  await until('nothing runs', async () => (await worker.status(revision))?.alive === 0);
};
const startsOfIt = async () => {
  const ids = new Set((await worker.rows(revision)).map(({ id }) => id));
  return (await bed.starts()).filter(({ instance }) => ids.has(instance)).length;
};

it('a failed start out of sleep is the only one: waiting requests get its cause at once, and the next start comes later each time', async () => {
  await serve({ min_replicas: 0, idle_seconds: 60 }, { exit_code: 3 });
  await worker.database.read(
    'system',
    `with nothing as (update workloads set replicas = 0 where revision_id = $1)
     insert into workload_scalings (revision_id, tenant_id, asleep_since) values ($1, 'ten_a', now()) returning 1`,
    [revision],
  );
  await until('nothing runs', async () => (await worker.status(revision))?.alive === 0);
  for (const failures of [1, 2]) {
    const before = await startsOfIt();
    await load(0, 2);
    await run();
    expect(await replicas()).toBe(1);
    // The scaler does not run now. The worker that sees the failure decides at once.
    await until('its start has failed', async () => (await asleep())?.asleep?.failures === failures);
    expect(await replicas()).toBe(0);
    expect((await asleep())?.asleep?.failure).toEqual(expect.any(String));
    await until('nothing is left', async () => (await worker.status(revision))?.alive === 0);
    expect((await startsOfIt()) - before).toBe(1);
    // The wait for the end may have taken longer than the pause before the next start.
    await failedJustNow();
    await run();
    expect(await replicas()).toBe(0);
    await pass('failed_at', failures);
  }
  const { cause } = (await scaled()).at(-1) ?? {};
  expect((await scaled()).at(-1)).toMatchObject({ to: 0, reason: 'start_failed', failures: 2 });
  expect((await asleep())?.asleep?.failure).toBe(cause);
});

it('an operation that wakes a revision judges the starts itself, and keeps the revision awake while it works on it', async () => {
  await serve({ min_replicas: 0, idle_seconds: 60 });
  await worker.ready(revision);
  await putToSleep();
  await worker.want(revision, spec({ min_replicas: 0, idle_seconds: 60 }), 'operation:op_2');
  await worker.ready(revision);
  await pass('activated_at', 1_000);
  await pass('ready_since', 1_000);
  await pass('used_at', 1_000);
  await run();
  expect(await replicas()).toBe(1);
  await worker.release(revision, 'operation:op_2');
  await run();
  expect(await replicas()).toBe(0);
});

it('a revision that has just been woken is not idle, however long no request has come', async () => {
  await serve({ min_replicas: 0, idle_seconds: 60 });
  await worker.ready(revision);
  await putToSleep();
  await worker.want(revision, spec({ min_replicas: 0, idle_seconds: 60 }));
  await worker.ready(revision);
  await worker.release(revision);
  await run();
  expect(await replicas()).toBe(1);
});

it('the time of a start is no idle time: a client that left meanwhile finds the instance when it returns', async () => {
  await serve({ min_replicas: 0, idle_seconds: 60 });
  await worker.ready(revision);
  await putToSleep();
  await load(0, 1);
  await run();
  await load(0);
  await worker.ready(revision);
  // As if the start had taken much longer than the idle time.
  await pass('activated_at', 1_000);
  await pass('used_at', 1_000);
  await run();
  expect(await replicas()).toBe(1);
  await pass('ready_since', 61);
  await run();
  expect(await replicas()).toBe(0);
});

it('both a rollout of a sleeping revision and its wake-up need quota, which others may have used up', async () => {
  const scaling = { min_replicas: 0, idle_seconds: 60 };
  await serve(scaling);
  await worker.ready(revision);
  await putToSleep();
  // As many as the target has capacity for, and more that wait. The quota counts them all.
  await worker.want('rev_other', numbered({ min_replicas: QUOTA }), 'route');
  await expect(worker.want(revision, spec(scaling))).rejects.toMatchObject({
    code: 'quota_exceeded',
    options: { retryable: true },
  });
  await load(0, 3);
  await run();
  expect(await replicas()).toBe(0);
  await worker.release('rev_other', 'route');
  await worker.retired('rev_other');
  // The first report may be too old by now.
  await load(0, 3);
  await run();
  expect(await replicas()).toBe(1);
  await load(0);
});

it('the number stays when an operation wants the revision again, and follows the overrides of the deployment', async () => {
  await worker.want(revision, numbered({ min_replicas: 1 }));
  deployments.scaling.set('dep_1', { min_replicas: 2 });
  await run();
  expect(await replicas()).toBe(2);
  await worker.want(revision, numbered({ min_replicas: 1 }));
  expect(await replicas()).toBe(2);
  deployments.scaling.clear();
  await run();
  expect(await replicas()).toBe(1);
  expect((await scaled()).map(({ reason }) => reason)).toEqual(['min_replicas', 'max_replicas']);
});

it('a workload that follows the load only by an override is recorded, so that the load of its engines is requested too', async () => {
  const known = () =>
    worker.database.read('system', 'select from workload_scalings where revision_id = $1', [revision]);
  await serve({ min_replicas: 1 });
  await run();
  expect(await known()).toHaveLength(0);
  deployments.scaling.set('dep_1', { max_replicas: 3, target_in_flight: 2 });
  await run();
  expect(await known()).toHaveLength(1);
  expect(await scaled()).toEqual([]);
});

it('the scaler requests at most the capacity of the target, and at most the quota', async () => {
  await worker.want(revision, numbered({ min_replicas: 1, max_replicas: 50, target_in_flight: 1 }));
  await load(40);
  await run();
  expect(await replicas()).toBe(MAX_INSTANCES);
  expect((await scaled()).at(-1)).toMatchObject({ from: 1, to: MAX_INSTANCES, in_flight: 40 });
});

it('the scaler requests at most the quota that others leave', async () => {
  await worker.want('rev_other', numbered({ min_replicas: 3 }));
  await worker.want(revision, numbered({ min_replicas: 1, max_replicas: 50, target_in_flight: 1 }));
  await load(40);
  await run();
  expect(await replicas()).toBe(QUOTA - 3);
  await run();
  expect(await scaled()).toHaveLength(1);
  await worker.release('rev_other');
  await worker.retired('rev_other');
});

import { rm, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { isAlive, TargetBed, until, type Process } from '../test/target-bed.js';
import { placeholderSecrets, toInstanceSpec } from './instance-spec.js';

/** Of a start, when none is under way and none has failed. */
const NO_START = { failure: null, failedStarts: null, progress: null, startingSeconds: null };

/** The time of a file is that of the kernel's last tick. */
const COARSE_MS = 10;

jest.setTimeout(60_000);

let bed: TargetBed;
let worker: Process;

beforeEach(async () => {
  bed = await TargetBed.create();
  worker = await bed.process('worker');
});
afterEach(() => bed.dispose());

/** What a gateway says of requests in flight; it goes on saying so. */
const inFlight = (count: number) =>
  worker.database.tx('system', (tx) =>
    tx.query(
      `insert into dataplane_inflight (gateway_id, revision_id, tenant_id, in_flight, updated_at) values ('gw', 'rev_1', 'ten_a', $1, now() + interval '1 hour')`,
      [count],
    ),
  );

it('starts what is wanted, once, publishes it with its readiness, and says so in the stream', async () => {
  await worker.want('rev_1', bed.spec());
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  await worker.want('rev_1', bed.spec());
  expect(await bed.starts()).toMatchObject([{ instance: instance?.id, generation: 1, model: 'tiny' }]);
  expect(await worker.status('rev_1')).toEqual({
    desired: 1,
    ready: 1,
    alive: 1,
    restarts: 0,
    message: null,
    reason: null,
    ...NO_START,
    baseUrls: [instance?.base_url],
    isAsleep: false,
  });
  expect(await worker.published('rev_1')).toEqual([
    {
      instances: [{ id: instance?.id, base_url: instance?.base_url, state: 'ready' }],
      credential: null,
      guard: null,
      revision_name: 'chat-1',
    },
  ]);
  expect(await worker.events()).toMatchObject([
    { type: 'instance.ready', data: { revision: 'chat-1', instance_id: instance?.id, generation: 1 } },
  ]);
  expect(await worker.instances.probe('rev_1')).toEqual({ answered: 1, asked: 1 });
  expect(await worker.status('rev_unheard')).toBeUndefined();
});

it('runs as many instances as are wanted', async () => {
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 3 } }));
  await worker.ready('rev_1', 3);
  expect(new Set((await bed.starts()).map(({ instance }) => instance)).size).toBe(3);
  const [published] = await worker.published('rev_1');
  expect(published?.instances).toHaveLength(3);
});

it('restarts what crashed as the next generation, waiting longer each time, and wakes whoever waits', async () => {
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  // A registration answers to what is only just past as well: here it is to answer to the crash.
  await until('the start to be past', async () => {
    const [workload] = await worker.database.read<{ is_past: boolean }>(
      'system',
      `select changed_at < now() - interval '500 milliseconds' as is_past from workloads where revision_id = 'rev_1'`,
    );
    return workload!.is_past;
  });
  await worker.database.tx('system', async (tx) => {
    await tx.query(
      `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by, status, wake_at)
       values ('op_w', 'ten_a', 'rollout', 'deployment', 'chat', 'dep_1', 'deployment/dep_1', '{}', 'waiting', now() + interval '1 hour')`,
    );
    await worker.instances.wakeOnChange(tx, 'rev_1', 'op_w');
  });
  const operation = async () =>
    (
      await worker.database.read<{ dispatch: number; wake_at: Date | null }>(
        'system',
        `select dispatch, wake_at from operations where id = 'op_w'`,
      )
    )[0];
  const woken = (await operation())?.dispatch ?? 0;

  process.kill((await bed.starts())[0]!.pid, 'SIGKILL');
  await until('the crash to be seen', async () => (await worker.status('rev_1'))?.restarts === 1);
  const [crashed] = await worker.rows('rev_1');
  expect(crashed).toMatchObject({ generation: 2, message: expect.stringContaining('SIGKILL') });
  await until(
    'the operation to be woken',
    async () => (await operation())?.wake_at === null && (await operation())!.dispatch > woken,
    operation,
  );

  await worker.ready('rev_1');
  process.kill((await bed.starts())[1]!.pid, 'SIGKILL');
  await until('the second crash', async () => (await worker.rows('rev_1'))[0]?.state === 'backing_off');
  expect((await worker.rows('rev_1'))[0]?.back_off).toBeCloseTo(1, 1);
  await worker.ready('rev_1');
  expect((await bed.starts()).map(({ generation }) => generation)).toEqual([1, 2, 3]);
  expect(await worker.status('rev_1')).toMatchObject({ restarts: 2, message: null });
  // If the machine is busy, a probe may notice the silence before the reconciler sees the death.
  const told = (await worker.events()).filter(({ type }) => type !== 'instance.unhealthy');
  expect(told.map(({ type }) => type)).toEqual([
    'instance.ready',
    'instance.crashed',
    'instance.ready',
    'instance.crashed',
    'instance.ready',
  ]);
  expect(told[1]?.data).toMatchObject({ restarts: 1, restarts_in_seconds: 0.5, generation: 1 });
  const left = await worker.database.read('system', 'select 1 from workload_waiters');
  expect(left).toEqual([]);
});

it('keeps what never starts away from the gateways, and shows why', async () => {
  await worker.want('rev_1', bed.spec({ exit_code: 3 }));
  await until('three crashes', async () => ((await worker.status('rev_1'))?.restarts ?? 0) >= 3);
  expect(await worker.status('rev_1')).toMatchObject({ ready: 0, message: expect.stringContaining('3') });
  expect(await worker.published('rev_1')).toEqual([]);
  expect((await worker.events())[0]).toMatchObject({ type: 'instance.crashed', data: { exit_code: 3 } });
});

it('takes an unhealthy instance from the gateways at once, gives it back when it recovers, and replaces it when it does not', async () => {
  await worker.want(
    'rev_1',
    bed.spec({}, { probes: { interval_seconds: 1, timeout_seconds: 1, failure_threshold: 2 } }),
  );
  const [healthy] = await worker.ready('rev_1');
  await writeFile(bed.illFile(), '');
  await until('it to be unhealthy', async () => (await worker.rows('rev_1'))[0]?.state === 'unhealthy');
  expect((await worker.published('rev_1'))[0]?.instances).toEqual([]);
  await rm(bed.illFile());
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 0, base_url: healthy?.base_url }]);

  await writeFile(bed.illFile(), '');
  await until('it to be replaced', async () => (await worker.rows('rev_1'))[0]?.restarts === 1);
  await rm(bed.illFile());
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 2 }]);
  const [first, second] = await bed.starts();
  expect([isAlive(first!.pid), isAlive(second!.pid)]).toEqual([false, true]);
});

it('stops what nobody holds any more: out of sight first, then the engine, then the revision retires', async () => {
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1);
  await worker.hold('rev_1', 'warm', 0.3);
  await worker.release('rev_1');
  await until('it to leave the gateways', async () => (await worker.published('rev_1'))[0]?.instances.length === 0);
  await until(
    'the drain to be under way',
    async () =>
      ((
        await worker.database.read<{ age: number }>(
          'system',
          `select extract(epoch from now() - state_since)::float8 as age from instances where id = $1 and state = 'stopping'`,
          [instance?.id],
        )
      )[0]?.age ?? 0) > 1.2,
  );
  expect(isAlive(pid)).toBe(true);
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0, ready: 0, alive: 1 });

  await worker.database.tx('system', (tx) => tx.query('delete from dataplane_inflight'));
  await worker.retired('rev_1');
  expect(isAlive(pid)).toBe(false);
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0, alive: 0, baseUrls: [] });
  expect(await worker.published('rev_1')).toEqual([]);

  // A hold alone does not bring back what has retired; wanting it does, as the next generation.
  await worker.hold('rev_1', 'route');
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0, alive: 0 });
  await worker.want('rev_1', bed.spec());
  expect(await worker.ready('rev_1')).toMatchObject([{ id: instance?.id, generation: 2, restarts: 0 }]);
});

it('gives the gateways a moment to hear of it before it stops an engine, though none reports a request', async () => {
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const stoppingSince = async () =>
    (
      await worker.database.read<{ since: Date }>(
        'system',
        `select state_since as since from instances where id = $1 and state = 'stopping'`,
        [instance!.id],
      )
    )[0]?.since;
  // What is in flight holds it there, so that its time can be read.
  await inFlight(1);
  await worker.release('rev_1');
  await until('it to be stopping', async () => (await stoppingSince()) !== undefined);
  const since = (await stoppingSince())!;
  await worker.database.tx('system', (tx) => tx.query('delete from dataplane_inflight'));
  await worker.retired('rev_1');
  const { mtimeMs } = await stat(bed.fileOf(instance!.id, '1.stop'));
  expect(mtimeMs - since.getTime()).toBeGreaterThanOrEqual(600 - COARSE_MS);
});

it('does not wait for ever for requests in flight', async () => {
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1);
  await worker.release('rev_1');
  await until('it to be stopping', async () => (await worker.rows('rev_1'))[0]?.state === 'stopping');
  const [{ since } = { since: new Date() }] = await worker.database.read<{ since: Date }>(
    'system',
    `update instances set state_since = now() - interval '29 seconds' where id = $1 returning state_since as since`,
    [instance!.id],
  );
  await until('the engine to be stopped', async () => !isAlive(pid));
  const { mtimeMs } = await stat(bed.fileOf(instance!.id, '1.stop'));
  expect(mtimeMs - since.getTime()).toBeGreaterThanOrEqual(30_000 - COARSE_MS);
});

it('lets an instance stay that is wanted again before it was told to stop', async () => {
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  await inFlight(1);
  await worker.release('rev_1');
  await until('it to be stopping', async () => (await worker.rows('rev_1'))[0]?.state === 'stopping');
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  expect(await bed.starts()).toHaveLength(1);
});

it('stops an engine that a late start brought up for an instance that has stopped', async () => {
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  await worker.release('rev_1');
  await worker.retired('rev_1');
  // Nothing on this host says any more that this generation was stopped; somebody was about to start it long ago.
  await rm(bed.fileOf(instance!.id), { recursive: true });
  const late = bed.driver();
  const stopped = { id: instance!.id, generation: 1, tenantName: 'default' };
  await late.provision(toInstanceSpec(bed.spec(), stopped, placeholderSecrets));
  await until('it to be up', async () => (await bed.starts()).length === 2);
  const { pid } = (await bed.starts())[1]!;
  await until('it to be stopped', async () => !isAlive(pid));
  await late.close();
});

it('stops an engine that no row wants', async () => {
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await worker.database.tx('system', (tx) => tx.query('delete from workloads'));
  await until('the orphan to be stopped', async () => !isAlive(pid));
});

import { rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  isAlive,
  QUICK_PROBES,
  TargetBed,
  until,
  type InstanceState,
  type InstancesProcess,
} from '../../test/target-bed.js';

/** The status fields of a start, when none is in progress and none has failed. */
const NO_START = { failure: null, failedStarts: null, progress: null, startingSeconds: null };

let bed: TargetBed;
let worker: InstancesProcess;

beforeEach(async () => {
  bed = await TargetBed.create();
  worker = await bed.process('worker');
});
afterEach(() => bed.dispose());

it('a wanted revision is started once, published when it is ready, and reported by an event', async () => {
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
    crashes: 0,
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

it('a revision has as many instances as are wanted', async () => {
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 3 } }));
  await worker.ready('rev_1', 3);
  expect(new Set((await bed.starts()).map(({ instance }) => instance)).size).toBe(3);
  const [published] = await worker.published('rev_1');
  expect(published?.instances).toHaveLength(3);
});

it('the worker restarts what crashed as the next generation, waits longer each time, and wakes waiting operations', async () => {
  await worker.want('rev_1', bed.spec({}, { probes: QUICK_PROBES }));
  await worker.ready('rev_1');
  // A registration also reports a change that has just happened. Here it must report the crash.
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
  expect(await worker.rows('rev_1')).toMatchObject([{ generation: 2 }]);
  await until(
    'the operation to be woken',
    async () => (await operation())?.wake_at === null && (await operation())!.dispatch > woken,
    operation,
  );

  await worker.ready('rev_1');
  process.kill((await bed.starts())[1]!.pid, 'SIGKILL');
  // Read at once: the back-off takes a second.
  let waiting: InstanceState | undefined;
  const isBackingOff = async () => {
    [waiting] = await worker.rows('rev_1');
    return waiting?.state === 'backing_off';
  };
  await until('the second crash', isBackingOff, async () => waiting, 20);
  expect(waiting?.back_off).toBeCloseTo(1, 1);
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
  const killed = expect.stringContaining('SIGKILL');
  expect(told[1]?.data).toMatchObject({ restarts: 1, restarts_in_seconds: 0.5, generation: 1, message: killed });
  expect(told[3]?.data).toMatchObject({ restarts: 2, restarts_in_seconds: 1, generation: 2 });
  const left = await worker.database.read('system', 'select 1 from workload_waiters');
  expect(left).toEqual([]);
});

it('an instance that does not start is never published, and its status shows why', async () => {
  await worker.want('rev_1', bed.spec({ exit_code: 3 }));
  // The cause is shown until the next start, so both are read together.
  let shown = await worker.status('rev_1');
  const isShown = async () => {
    shown = await worker.status('rev_1');
    return (shown?.restarts ?? 0) >= 3 && shown?.message !== null;
  };
  await until('the cause of the third crash', isShown, async () => shown);
  expect(shown).toMatchObject({ ready: 0, message: expect.stringContaining('3') });
  expect(await worker.published('rev_1')).toEqual([]);
  expect(await worker.events()).toMatchObject([
    { type: 'instance.crashed', data: { cause: 'exited', exit_code: 3, generation: 1 } },
  ]);
});

it('an unhealthy instance is withdrawn at once, published again if it recovers, and replaced if it does not', async () => {
  await worker.want(
    'rev_1',
    // Unhealthy after two seconds, and replaced after two more. The first time it recovers in between.
    bed.spec({}, { probes: { ...QUICK_PROBES, interval_seconds: 0.4, failure_threshold: 5 } }),
  );
  const [healthy] = await worker.ready('rev_1');
  await writeFile(bed.illFile(), '');
  await until('it to be unhealthy', async () => (await worker.rows('rev_1'))[0]?.state === 'unhealthy');
  expect((await worker.published('rev_1'))[0]?.instances).toEqual([]);
  await rm(bed.illFile());
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 0, base_url: healthy?.base_url }]);

  await writeFile(bed.illFile(), '');
  await until('it to be unhealthy again', async () => (await worker.rows('rev_1'))[0]?.state === 'unhealthy');
  // As if the two seconds had passed.
  await worker.database.tx('system', (tx) =>
    tx.query(`update instances set state_since = now() - interval '2 seconds'`),
  );
  await until('it to be replaced', async () => (await worker.rows('rev_1'))[0]?.restarts === 1);
  await rm(bed.illFile());
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 2 }]);
  const [first, second] = await bed.starts();
  expect([isAlive(first!.pid), isAlive(second!.pid)]).toEqual([false, true]);
});

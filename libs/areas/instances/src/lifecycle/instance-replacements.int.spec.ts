import { afterEach, expect, it } from '@jest/globals';
import { isAlive, TargetBed, until, workloadOf, type InstancesProcess } from '../../test/target-bed.js';

let bed: TargetBed;
let worker: InstancesProcess;

async function start(maxInstances = 4): Promise<void> {
  bed = await TargetBed.create(maxInstances);
  worker = await bed.process('worker');
}
afterEach(() => bed.dispose());

const system = <T>(work: Parameters<typeof worker.database.tx<T>>[1]) => worker.database.tx('system', work);
const members = async (revisionId: string) => (await system((tx) => worker.instances.members(tx, revisionId))).members;
const replace = (revisionId: string, id: string, generation: number, drainSeconds = 60) =>
  system((tx) => worker.instances.replace(tx, revisionId, { id, generation }, drainSeconds));
const addSpare = (revisionId: string) =>
  system(async (tx) => {
    await worker.instances.addSpare(tx, workloadOf(revisionId, bed.spec()));
    return (await worker.instances.members(tx, revisionId)).hasSpare;
  });
/** The instances of the tenant that a rollout finds: those that may run, and those that are needed. */
const counts = (revisionId: string) =>
  system(async (tx) => {
    const workload = workloadOf(revisionId, bed.spec());
    const { wanted } = await worker.instances.forecastCapacity(tx, workload);
    return { wanted, needed: await worker.instances.needed(tx, workload.tenantId) };
  });
const inFlight = (count: number) =>
  system((tx) =>
    tx.query(
      `insert into dataplane_inflight (gateway_id, revision_id, tenant_id, in_flight, updated_at)
       values ('gw', 'rev_1', 'ten_a', $1, now() + interval '1 hour')
       on conflict (revision_id, gateway_id) do update set in_flight = excluded.in_flight`,
      [count],
    ),
  );
const published = async (revisionId: string) => (await worker.published(revisionId))[0]?.instances.length;

it('a replaced instance lets its requests end, then starts as the next generation, and keeps its place on a full target', async () => {
  await start(1);
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [first] = await bed.starts();
  // Another revision waits for the place.
  await worker.want('rev_2', bed.spec());
  await until('it to wait', async () => (await worker.status('rev_2'))?.reason === 'waiting_for_place');
  await inFlight(1);
  await replace('rev_1', instance!.id, 1);
  await until('it to get no more requests', async () => (await published('rev_1')) === 0);
  expect(await members('rev_1')).toMatchObject([{ id: instance!.id, state: 'stopping', isReplaced: true }]);
  expect(isAlive(first!.pid)).toBe(true);
  await inFlight(0);
  await until('the next generation', async () => (await members('rev_1'))[0]?.generation === 2);
  await worker.ready('rev_1');
  expect(await members('rev_1')).toMatchObject([
    { id: instance!.id, generation: 2, isReplaced: false, isSpare: false },
  ]);
  expect(await worker.status('rev_1')).toMatchObject({ ready: 1, restarts: 0, crashes: 0 });
  expect(isAlive(first!.pid)).toBe(false);
  expect(await bed.starts()).toHaveLength(2);
  expect(await worker.rows('rev_2')).toMatchObject([{ state: 'pending' }]);
});

it('an instance that has another generation by now, or has been released, is not started again', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  await replace('rev_1', instance!.id, 7);
  expect(await members('rev_1')).toMatchObject([{ isReplaced: false }]);
  await inFlight(1);
  await replace('rev_1', instance!.id, 1);
  await until('it to be stopping', async () => (await members('rev_1'))[0]?.state === 'stopping');
  await worker.release('rev_1');
  await inFlight(0);
  await worker.retired('rev_1');
  expect(await bed.starts()).toHaveLength(1);
});

it('a spare instance starts next to the others if there is capacity, and stops once it is removed', async () => {
  await start(2);
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  expect(await addSpare('rev_1')).toBe(true);
  await until('two to be offered', async () => (await published('rev_1')) === 2);
  expect(await worker.status('rev_1')).toMatchObject({ desired: 1, ready: 2 });
  expect((await members('rev_1')).map(({ isSpare }) => isSpare)).toEqual([false, true]);
  // A repeat adds none, and the capacity of the spare one is taken for others.
  expect(await addSpare('rev_1')).toBe(true);
  expect(await counts('rev_1')).toEqual({ wanted: 2, needed: 2 });
  await worker.want('rev_2', bed.spec());
  await until('it to wait', async () => (await worker.status('rev_2'))?.reason === 'waiting_for_place');
  await system((tx) => worker.instances.removeSpare(tx, 'rev_1'));
  await worker.ready('rev_2');
  expect(await members('rev_1')).toHaveLength(1);
  expect(await addSpare('rev_1')).toBe(false);
});

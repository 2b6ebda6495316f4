import { rm, stat } from 'node:fs/promises';
import { afterEach, expect, it } from '@jest/globals';
import { isAlive, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { placeholderSecrets, toInstanceSpec } from '../catalog/target-catalog.js';
import { DEFAULT_INSTANCE_TIMINGS } from '../catalog/timings.js';

/** The time of a file is that of the kernel's last tick. */
const COARSE_MS = 10;
/** As in an installation. */
const { drainMinSeconds } = DEFAULT_INSTANCE_TIMINGS;

let bed: TargetBed;
let worker: InstancesProcess;

async function start(timings?: Partial<typeof DEFAULT_INSTANCE_TIMINGS>): Promise<void> {
  bed = await TargetBed.create(4, { timings });
  worker = await bed.process('worker');
}
afterEach(() => bed.dispose());

/** Writes a gateway's report of requests in flight. The report stays. */
const inFlight = (count: number) =>
  worker.database.tx('system', (tx) =>
    tx.query(
      `insert into dataplane_inflight (gateway_id, revision_id, tenant_id, in_flight, updated_at) values ('gw', 'rev_1', 'ten_a', $1, now() + interval '1 hour')`,
      [count],
    ),
  );

it('a released revision leaves the gateways first, then its engine stops, then it retires', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1);
  await worker.retain('rev_1', 'warm', 0.3);
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
      )[0]?.age ?? 0) > 0.6,
  );
  expect(isAlive(pid)).toBe(true);
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0, ready: 0, alive: 1 });

  await worker.database.tx('system', (tx) => tx.query('delete from dataplane_inflight'));
  await worker.retired('rev_1');
  expect(isAlive(pid)).toBe(false);
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0, alive: 0, baseUrls: [] });
  expect(await worker.published('rev_1')).toEqual([]);

  // A reason to retain alone does not start what has retired. Wanting it does, as the next generation.
  await worker.retain('rev_1', 'route');
  expect(await worker.status('rev_1')).toMatchObject({ desired: 0, alive: 0 });
  await worker.want('rev_1', bed.spec());
  expect(await worker.ready('rev_1')).toMatchObject([{ id: instance?.id, generation: 2, restarts: 0 }]);
});

it('an engine is stopped only after gateways had time to learn of it, even without requests in flight', async () => {
  await start({ drainMinSeconds });
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
  // The request in flight delays the stop, so that its time can be read.
  await inFlight(1);
  await worker.release('rev_1');
  await until('it to be stopping', async () => (await stoppingSince()) !== undefined);
  const since = (await stoppingSince())!;
  await worker.database.tx('system', (tx) => tx.query('delete from dataplane_inflight'));
  await worker.retired('rev_1');
  const { mtimeMs } = await stat(bed.fileOf(instance!.id, '1.stop'));
  expect(mtimeMs - since.getTime()).toBeGreaterThanOrEqual(drainMinSeconds * 1_000 - COARSE_MS);
});

it('a stop does not wait forever for requests in flight', async () => {
  await start();
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

it('an instance that is wanted again before the stop of its engine began continues to run', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  await inFlight(1);
  await worker.release('rev_1');
  await until('it to be stopping', async () => (await worker.rows('rev_1'))[0]?.state === 'stopping');
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  expect(await bed.starts()).toHaveLength(1);
});

it('the worker stops an engine that a late start brought up for an instance that has stopped', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  await worker.release('rev_1');
  await worker.retired('rev_1');
  // The next worker searches for engines that no row wants as soon as it leads. The late engine can start before that.
  await worker.close();
  // Removes all traces on this host that this generation was stopped. The start that follows is like that of a worker
  // that is very late.
  await rm(bed.fileOf(instance!.id), { recursive: true });
  const late = bed.driver();
  const stopped = { id: instance!.id, generation: 1, tenantName: 'default' };
  await late.provision(toInstanceSpec(bed.spec(), stopped, placeholderSecrets));
  await until('it to be up', async () => (await bed.starts()).length === 2);
  const { pid } = (await bed.starts())[1]!;
  await bed.process('worker');
  await until('it to be stopped', async () => !isAlive(pid));
  await late.close();
});

it('the worker stops an engine that no row wants', async () => {
  await start({ orphanSearchMs: 200 });
  await worker.want('rev_1', bed.spec());
  await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await worker.database.tx('system', (tx) => tx.query('delete from workloads'));
  await until('the orphan to be stopped', async () => !isAlive(pid));
});

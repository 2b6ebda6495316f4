import { rm, stat, writeFile } from 'node:fs/promises';
import { afterEach, expect, it, jest } from '@jest/globals';
import { addOperation, isAlive, QUICK_PROBES, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { placeholderSecrets, toInstanceSpec } from '../catalog/target-catalog.js';
import { DEFAULT_INSTANCE_TIMINGS } from '../catalog/timings.js';
import { InstanceKeeper } from './instance-keeper.js';

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

/** Writes a gateway's report of requests in flight, by instance if that is known. The report stays. */
const inFlight = (count: number, instances: object | null = null, silent: object | null = null) =>
  worker.database.tx('system', (tx) =>
    tx.query(
      `insert into dataplane_inflight (gateway_id, revision_id, tenant_id, in_flight, instances, silent, updated_at)
       values ('gw', 'rev_1', 'ten_a', $1, $2, $3, now() + interval '1 hour')
       on conflict (revision_id, gateway_id) do update set in_flight = excluded.in_flight, instances = excluded.instances, silent = excluded.silent`,
      [count, instances && JSON.stringify(instances), silent && JSON.stringify(silent)],
    ),
  );
const ended = () => worker.database.tx('system', (tx) => tx.query('delete from dataplane_inflight'));
const isStopping = (ordinal = 0) =>
  until(`instance ${ordinal} to be stopping`, async () => (await worker.rows('rev_1'))[ordinal]?.state === 'stopping');
/** Moves the beginning of the drain into the past. */
const age = (seconds: number) =>
  worker.database.tx('system', (tx) =>
    tx.query(
      `update instances set state_since = state_since - make_interval(secs => $1), drain_until = drain_until - make_interval(secs => $1)`,
      [seconds],
    ),
  );
const drains = async () =>
  (await worker.database.tx({ tenantId: 'ten_a' }, (tx) => worker.instances.draining(tx, ['dep_1']))).get('dep_1') ??
  [];
/** How often the reconciler has checked a stopping instance, so that a test can wait for checks that change nothing. */
async function checks(count: number): Promise<void> {
  const perform = jest.spyOn(InstanceKeeper.prototype, 'perform');
  const seen = () => perform.mock.calls.filter(([{ kind }]) => kind === 'terminate').length;
  await until(`${count} checks`, async () => seen() >= count);
  perform.mockRestore();
}

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

  await ended();
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
  await ended();
  await worker.retired('rev_1');
  const { mtimeMs } = await stat(bed.fileOf(instance!.id, '1.stop'));
  expect(mtimeMs - since.getTime()).toBeGreaterThanOrEqual(drainMinSeconds * 1_000 - COARSE_MS);
});

it('a stop waits for requests in flight for as long as the deployment allows, and no longer', async () => {
  await start();
  worker.deployments.drainsFor = 600;
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(3, { [instance!.id]: 2 });
  await worker.release('rev_1');
  await isStopping();
  // Longer than any limit that does not depend on the deployment.
  await age(120);
  await checks(3);
  expect(isAlive(pid)).toBe(true);
  expect(await drains()).toEqual([{ revisionName: 'chat-1', requests: 2, until: expect.any(String) }]);
  await age(481);
  await until('the engine to be stopped', async () => !isAlive(pid));
  await worker.retired('rev_1');
  expect(await drains()).toEqual([]);
});

it('an instance without requests in flight stops at once, while another one of its revision drains', async () => {
  await start();
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 2 } }));
  const [busy, idle] = await worker.ready('rev_1', 2);
  const pidOf = async (id: string) => (await bed.starts()).find(({ instance }) => instance === id)!.pid;
  await inFlight(1, { [busy!.id]: 1 });
  await worker.release('rev_1');
  const [busyPid, idlePid] = [await pidOf(busy!.id), await pidOf(idle!.id)];
  await until('the idle one to be stopped', async () => !isAlive(idlePid));
  expect(isAlive(busyPid)).toBe(true);
  await ended();
  await worker.retired('rev_1');
  expect(isAlive(busyPid)).toBe(false);
});

it('a revision that lost its traffic for its health waits for no request without a byte', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(3, { [instance!.id]: 3 }, { [instance!.id]: 2 });
  await worker.release('rev_1');
  await isStopping();
  const abandon = () =>
    worker.database.tx('system', (tx) => worker.instances.abandonSilentRequests(tx, 'ten_a', 'rev_1'));
  expect(await drains()).toMatchObject([{ requests: 3 }]);
  await abandon();
  expect(await drains()).toMatchObject([{ requests: 1 }]);
  await checks(3);
  expect(isAlive(pid)).toBe(true);
  await inFlight(2, { [instance!.id]: 2 }, { [instance!.id]: 2 });
  await until('the engine to be stopped', async () => !isAlive(pid));
});

it('an instance that misses its probes waits for no request without a byte', async () => {
  await start();
  await worker.want('rev_1', bed.spec({}, { probes: { ...QUICK_PROBES, failure_threshold: 3 } }));
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1, { [instance!.id]: 1 }, { [instance!.id]: 1 });
  await writeFile(bed.illFile(), '');
  await until('it to be unhealthy', async () => (await worker.rows('rev_1'))[0]?.state === 'unhealthy');
  await worker.release('rev_1');
  await until('the engine to be stopped', async () => !isAlive(pid));
  expect(await bed.starts()).toHaveLength(1);
});

it('an operator ends the drains of a deployment, once', async () => {
  await start();
  worker.deployments.drainsFor = 600;
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1, { [instance!.id]: 1 });
  const end = (deploymentId = 'dep_1', tenantId = 'ten_a') =>
    worker.database.tx({ tenantId }, (tx) => worker.instances.endDrains(tx, tenantId, deploymentId));
  expect(await end()).toEqual([]);
  await worker.release('rev_1');
  await isStopping();
  expect([await end('dep_2'), await end('dep_1', 'ten_b')]).toEqual([[], []]);
  expect(await end()).toEqual(['chat-1']);
  expect([await end(), await drains()]).toEqual([[], []]);
  await until('the engine to be stopped', async () => !isAlive(pid));
});

it('a suspended revision drains no longer than the operation that suspended it allows', async () => {
  await start();
  worker.deployments.drainsFor = 600;
  const owner = await bed.owner();
  await addOperation(owner, 'op_1');
  await owner.end();
  await worker.want('rev_1', bed.spec(), 'route');
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1, { [instance!.id]: 1 });
  await worker.database.tx('system', (tx) => worker.instances.suspend(tx, 'rev_1', 'op_1', 7));
  await isStopping();
  const [row] = await worker.database.read<{ seconds: number }>(
    'system',
    'select extract(epoch from drain_until - state_since)::float8 as seconds from instances',
  );
  expect(row?.seconds).toBe(7);
  await age(7);
  await until('the engine to be stopped', async () => !isAlive(pid));
});

it('counts of a gateway without a recent report end a drain only after it had time to report again', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await inFlight(1, { [instance!.id]: 1 });
  await worker.release('rev_1');
  await isStopping();
  await worker.database.tx('system', (tx) =>
    tx.query(`update dataplane_inflight set updated_at = now() - interval '11 seconds'`),
  );
  await checks(5);
  expect(isAlive(pid)).toBe(true);
  await until('the engine to be stopped', async () => !isAlive(pid));
});

it('the next worker continues a drain after the first one was killed, by the clock of Postgres', async () => {
  await start();
  await worker.want('rev_1', bed.spec());
  const [instance] = await worker.ready('rev_1');
  const [{ pid } = { pid: 0 }] = await bed.starts();
  await worker.close();
  const first = await bed.child();
  worker = await bed.process('api');
  await inFlight(1, { [instance!.id]: 1 });
  await worker.release('rev_1');
  await isStopping();
  const drainsUntil = async () =>
    worker.database.read<{ drain_until: Date }>('system', 'select drain_until from instances');
  const before = await drainsUntil();
  first.kill('SIGKILL');
  worker = await bed.process('worker');
  await checks(3);
  expect(isAlive(pid)).toBe(true);
  expect(await drainsUntil()).toEqual(before);
  await age(30);
  await until('the engine to be stopped', async () => !isAlive(pid));
  expect(await bed.starts()).toHaveLength(1);
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

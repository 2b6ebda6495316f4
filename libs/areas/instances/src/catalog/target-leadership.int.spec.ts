import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TcpProxy } from '@slipway/platform-database/testing';
import { QUICK_PROBES, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { TargetLeadership } from './target-leadership.js';

let bed: TargetBed;
let api: InstancesProcess;

beforeEach(async () => {
  bed = await TargetBed.create();
  api = await bed.process('api');
});
afterEach(() => bed.dispose());

it('several concurrent workers start one engine for each instance', async () => {
  const spec = bed.spec({}, { probes: QUICK_PROBES });
  const workers = await Promise.all([bed.process('worker'), bed.process('worker'), bed.process('worker')]);
  await Promise.all(['rev_1', 'rev_2', 'rev_3'].map((revision) => api.want(revision, spec)));
  for (const revision of ['rev_1', 'rev_2', 'rev_3']) await api.ready(revision);
  expect(await bed.starts()).toHaveLength(3);
  // Short statements hold locks as well, on their own connections.
  const leaders = async () =>
    api.database.read<{ objid: number }>(
      'system',
      `select objid from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and granted and datname = current_database() and application_name = 'slipway-target'`,
    );
  const { length: targets } = bed.config.operator.targets;
  await until('each target to have a leader', async () => (await leaders()).length >= targets, leaders);
  expect(await leaders()).toHaveLength(targets);

  // If the leader ends, another worker takes over.
  for (const worker of workers.slice(0, 2)) await worker.close();
  process.kill((await bed.starts())[0]!.pid, 'SIGKILL');
  await until('the crash to be healed', async () => (await bed.starts()).length === 4);
  await Promise.all(['rev_1', 'rev_2', 'rev_3'].map((revision) => api.ready(revision)));
});

it('two workers that both believe they lead start one engine', async () => {
  // As after a lost connection that its holder has not noticed yet.
  const leading = jest.spyOn(TargetLeadership.prototype, 'isHeld').mockResolvedValue(true);
  try {
    await Promise.all([bed.process('worker'), bed.process('worker')]);
    await api.want('rev_1', bed.spec({}, { probes: QUICK_PROBES, scaling: { min_replicas: 4 } }));
    await api.ready('rev_1', 4);
    process.kill((await bed.starts())[0]!.pid, 'SIGKILL');
    await until('the crash to be seen', async () => (await api.status('rev_1'))?.restarts === 1);
    await api.ready('rev_1', 4);
    expect(await bed.starts()).toHaveLength(5);
    expect((await api.events()).filter(({ type }) => type === 'instance.crashed')).toHaveLength(1);
    await api.release('rev_1');
    await until('all to be stopped', async () => (await api.status('rev_1'))?.alive === 0);
  } finally {
    leading.mockRestore();
  }
});

it('a leader keeps its lead without renewing it, and another one follows if Postgres no longer hears from it', async () => {
  const { url } = bed.config.database;
  const { hostname, port } = new URL(url);
  const proxy = await TcpProxy.start({ host: hostname, port: Number(port || 5432) });
  // Long enough for a busy machine to send its signs in time.
  const silentMs = 2_000;
  const [leader, other] = [proxy.through(url), url].map((one) => new TargetLeadership(one, 'local', silentMs));
  try {
    expect([await leader!.isHeld(), await other!.isHeld()]).toEqual([true, false]);
    // Postgres measures the silence, so this time has to pass.
    await new Promise((resolve) => setTimeout(resolve, 2 * silentMs));
    expect(await other!.isHeld()).toBe(false);
    // The leader's host is gone, and Postgres gets no message about it.
    proxy.silence();
    await until('the other to lead', () => other!.isHeld());
    proxy.restore();
    expect(await leader!.isHeld()).toBe(false);
  } finally {
    await Promise.all([leader!.resign(), other!.resign()]);
    await proxy.close();
  }
});

it('a worker continues after every connection to Postgres was cut', async () => {
  const worker = await bed.process('worker');
  await worker.want('rev_1', bed.spec({}, { probes: QUICK_PROBES }));
  await worker.ready('rev_1');
  const owner = await bed.owner();
  await owner.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await owner.end();
  process.kill((await bed.starts())[0]!.pid, 'SIGKILL');
  await until('the crash to be healed', async () => (await bed.starts()).length === 2);
  await until('it to be ready', async () => (await worker.status('rev_1').catch(() => undefined))?.ready === 1);
});

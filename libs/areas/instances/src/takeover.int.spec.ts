import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TcpProxy } from '@slipway/platform-database/testing';
import { isAlive, TargetBed, until, type Process } from '../test/target-bed.js';
import { TargetLeadership } from './target-leadership.js';

jest.setTimeout(60_000);

let bed: TargetBed;
let api: Process;

beforeEach(async () => {
  bed = await TargetBed.create();
  api = await bed.process('api');
});
afterEach(() => bed.dispose());

const POINTS = ['targets:provision.before_spawn', 'targets:provision.after_spawn', 'targets:provision.after_claim'];

it.each(POINTS)(
  'a worker killed at %s is followed by one that adopts: one engine, started once',
  async (pausePoint) => {
    const first = await bed.child({ pausePoint });
    let said = '';
    first.stderr?.on('data', (chunk) => (said += String(chunk)));
    await api.want('rev_1', bed.spec());
    await until('the worker to stand still', async () => said.includes(`paused at ${pausePoint}`));
    first.kill('SIGKILL');
    await bed.child();
    await api.ready('rev_1');
    expect(await bed.starts()).toHaveLength(1);
    expect(await api.status('rev_1')).toMatchObject({ restarts: 0, alive: 1 });
  },
);

it('engines outlive their worker, also a killed one, and the next worker finds them ready', async () => {
  const first = await bed.child();
  await api.want('rev_1', bed.spec());
  await api.ready('rev_1');
  first.kill('SIGKILL');
  const [{ pid } = { pid: 0 }] = await bed.starts();

  const second = await bed.child();
  // The successor leads and looks: a release is only acted on by somebody who does.
  await api.want('rev_2', bed.spec());
  await api.ready('rev_2');
  const ended = new Promise((resolve) => second.once('exit', resolve));
  second.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(isAlive(pid)).toBe(true);
  expect(await api.rows('rev_1')).toMatchObject([{ state: 'ready', generation: 1, restarts: 0 }]);

  await bed.child();
  await api.release('rev_1');
  await until('the adopted engine to be stopped', async () => !isAlive(pid));
  await until('its row to say so', async () => (await api.status('rev_1'))?.alive === 0);
  expect(await bed.starts()).toHaveLength(2);
});

it.each([undefined, 'SIGTERM', 'SIGINT', 'the launcher is gone'])(
  'a shutdown because of %s leaves engines and rows alone',
  async (signal) => {
    const worker = await bed.process('worker');
    await worker.want('rev_1', bed.spec());
    await worker.ready('rev_1');
    const before = await api.rows('rev_1');
    const [{ pid } = { pid: 0 }] = await bed.starts();
    await worker.close(signal);
    expect(isAlive(pid)).toBe(true);
    expect(await api.rows('rev_1')).toEqual(before);
    expect((await api.published('rev_1'))[0]?.instances).toHaveLength(1);
  },
);

it('a worker that takes over bears a busy moment, instead of taking an engine from the gateways', async () => {
  const probes = { interval_seconds: 1, timeout_seconds: 1, failure_threshold: 20 };
  const first = await bed.process('worker');
  await first.want('rev_1', bed.spec({}, { probes }));
  await first.ready('rev_1');
  await first.close('SIGTERM');
  await writeFile(bed.illFile(), '');
  await bed.process('worker');
  await until('its successor to have asked', async () => (await readFile(bed.illFile(), 'utf8')).length >= 3);
  await rm(bed.illFile());
  expect(await api.rows('rev_1')).toMatchObject([{ state: 'ready', generation: 1 }]);
  expect((await api.events()).map(({ type }) => type)).toEqual(['instance.ready']);
});

it('several workers at once start one engine each', async () => {
  const workers = await Promise.all([bed.process('worker'), bed.process('worker'), bed.process('worker')]);
  await Promise.all(['rev_1', 'rev_2', 'rev_3'].map((revision) => api.want(revision, bed.spec())));
  for (const revision of ['rev_1', 'rev_2', 'rev_3']) await api.ready(revision);
  expect(await bed.starts()).toHaveLength(3);
  const leaders = await api.database.read<{ leaders: number }>(
    'system',
    `select count(*)::int as leaders from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`,
  );
  expect(leaders[0]?.leaders).toBe(bed.config.operator.targets.length);

  // Whoever leads, the others take over when it goes.
  for (const worker of workers.slice(0, 2)) await worker.close();
  process.kill((await bed.starts())[0]!.pid, 'SIGKILL');
  await until('the crash to be healed', async () => (await bed.starts()).length === 4);
  await Promise.all(['rev_1', 'rev_2', 'rev_3'].map((revision) => api.ready(revision)));
});

it('two that both believe to lead start one engine', async () => {
  // As after a lost connection that its holder has not noticed yet.
  const leading = jest.spyOn(TargetLeadership.prototype, 'isHeld').mockResolvedValue(true);
  try {
    await Promise.all([bed.process('worker'), bed.process('worker')]);
    await api.want('rev_1', bed.spec({}, { scaling: { min_replicas: 4 } }));
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

it('who leads need not say so, and is followed by another when Postgres hears nothing of it any more', async () => {
  const { url } = bed.config.database;
  const { hostname, port } = new URL(url);
  const proxy = await TcpProxy.start({ host: hostname, port: Number(port || 5432) });
  const silentMs = 1_000;
  const [leader, other] = [proxy.through(url), url].map((one) => new TargetLeadership(one, 'local', silentMs));
  try {
    expect([await leader!.isHeld(), await other!.isHeld()]).toEqual([true, false]);
    await new Promise((resolve) => setTimeout(resolve, 2 * silentMs));
    expect(await other!.isHeld()).toBe(false);
    // Its host is gone, and nobody tells Postgres.
    proxy.silence();
    await until('the other to lead', () => other!.isHeld());
    proxy.restore();
    expect(await leader!.isHeld()).toBe(false);
  } finally {
    await Promise.all([leader!.resign(), other!.resign()]);
    await proxy.close();
  }
});

it('goes on after every connection to Postgres was cut', async () => {
  const worker = await bed.process('worker');
  await worker.want('rev_1', bed.spec());
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

it('stops all engines with the stack, counts no crash, and the next start brings them back', async () => {
  const worker = await bed.process('worker');
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 2 } }));
  await worker.ready('rev_1', 2);
  // What the worker's entry point says to the shutdown hooks if the launcher told it so.
  await worker.close('slipway:stop-engines');
  expect((await bed.starts()).map(({ pid }) => isAlive(pid))).toEqual([false, false]);
  expect(await api.status('rev_1')).toMatchObject({ desired: 2, ready: 0 });
  expect((await api.published('rev_1'))[0]?.instances).toEqual([]);

  await bed.process('worker');
  expect(await api.ready('rev_1', 2)).toMatchObject([
    { generation: 2, restarts: 0 },
    { generation: 2, restarts: 0 },
  ]);
  expect((await api.events()).map(({ type }) => type)).not.toContain('instance.crashed');
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { isAlive, QUICK_PROBES, TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';

let bed: TargetBed;
let api: InstancesProcess;

beforeEach(async () => {
  bed = await TargetBed.create();
  api = await bed.process('api');
});
afterEach(() => bed.dispose());

const POINTS = ['targets:provision.before_spawn', 'targets:provision.after_spawn', 'targets:provision.after_claim'];

it.each(POINTS)(
  'after a worker is killed at %s, the next one adopts its engine, which is started once',
  async (pausePoint) => {
    const first = await bed.child({ pausePoint });
    let said = '';
    first.stderr?.on('data', (chunk) => (said += String(chunk)));
    await api.want('rev_1', bed.spec());
    await until('the worker to stand still', async () => said.includes(`paused at ${pausePoint}`));
    first.kill('SIGKILL');
    await bed.process('worker');
    await api.ready('rev_1');
    expect(await bed.starts()).toHaveLength(1);
    expect(await api.status('rev_1')).toMatchObject({ restarts: 0, alive: 1 });
  },
);

it('engines outlive their worker, even a killed one, and the next worker finds them ready', async () => {
  const first = await bed.child();
  await api.want('rev_1', bed.spec());
  await api.ready('rev_1');
  first.kill('SIGKILL');
  const [{ pid } = { pid: 0 }] = await bed.starts();

  const second = await bed.child();
  // The successor leads and reconciles before it ends.
  await api.want('rev_2', bed.spec());
  await api.ready('rev_2');
  const ended = new Promise((resolve) => second.once('exit', resolve));
  second.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(isAlive(pid)).toBe(true);
  expect(await api.rows('rev_1')).toMatchObject([{ state: 'ready', generation: 1, restarts: 0 }]);

  await bed.process('worker');
  await api.release('rev_1');
  await until('the adopted engine to be stopped', async () => !isAlive(pid));
  await until('its row to say so', async () => (await api.status('rev_1'))?.alive === 0);
  expect(await bed.starts()).toHaveLength(2);
});

it('a worker that takes over tolerates a busy moment and does not withdraw the engine from the gateways', async () => {
  // More misses than a busy machine causes before the test makes the server healthy again.
  const probes = { ...QUICK_PROBES, failure_threshold: 200 };
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

it.each([undefined, 'SIGTERM', 'SIGINT', 'the launcher has exited'])(
  'a shutdown because of %s does not affect engines and rows',
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

it('a shutdown of the stack stops all engines and counts no crash, and the next start brings them back', async () => {
  const worker = await bed.process('worker');
  await worker.want('rev_1', bed.spec({}, { scaling: { min_replicas: 2 } }));
  await worker.ready('rev_1', 2);
  // The message that the worker's entry point passes to the shutdown hooks if it got it from the launcher.
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

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { isAlive, TargetBed, type Process } from '../test/target-bed.js';

jest.setTimeout(60_000);

let bed: TargetBed;
let api: Process;

beforeEach(async () => {
  bed = await TargetBed.create();
  api = await bed.process('api');
});
afterEach(() => bed.dispose());

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

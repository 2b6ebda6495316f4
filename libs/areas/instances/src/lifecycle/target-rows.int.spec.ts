import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TargetRows, addInstances } from './target-rows.js';
import { TargetBed, type InstancesProcess } from '../../test/target-bed.js';

let bed: TargetBed;
/** It runs no reconciler. */
let api: InstancesProcess;
let rows: TargetRows;

beforeEach(async () => {
  bed = await TargetBed.create(2);
  api = await bed.process('api');
  await api.want('rev_1', bed.spec());
  await api.want('rev_2', bed.spec({ load_ms: 1 }));
  rows = new TargetRows(api.database, 'local');
});
afterEach(() => bed.dispose());

const specs = async () => (await rows.all()).map(({ revision_id, spec }) => [revision_id, spec]);

it('the spec of each revision is read once, however often its rows are read', async () => {
  const asked = jest.spyOn(api.database, 'tx');
  const read = await specs();
  expect(read).toEqual([
    ['rev_1', bed.spec()],
    ['rev_2', bed.spec({ load_ms: 1 })],
  ]);
  expect(asked).toHaveBeenCalledTimes(1);
  expect(await specs()).toEqual(read);
  expect(asked).toHaveBeenCalledTimes(1);
});

it('only the workloads of the given instances are read, with their specs', async () => {
  await addInstances(
    api.database,
    'local',
    (await rows.all()).map((workload) => ({ workload, ordinals: [0] })),
  );
  const [, other] = await rows.all();
  const [read, ...more] = await new TargetRows(api.database, 'local').of([other!.instances[0]!.id]);
  expect(more).toEqual([]);
  expect(read).toMatchObject({ revision_id: 'rev_2', spec: other!.spec, instances: [{ id: other!.instances[0]!.id }] });
  expect(await rows.of(['ins_of_nobody'])).toEqual([]);
});

it('the spec of a workload that is no longer active is dropped', async () => {
  await rows.all();
  await api.database.tx('system', (tx) =>
    tx.query(`update workloads set is_active = false where revision_id = 'rev_1'`),
  );
  expect((await specs()).map(([id]) => id)).toEqual(['rev_2']);
  await api.want('rev_1', bed.spec());
  const asked = jest.spyOn(api.database, 'tx');
  expect((await specs()).map(([id]) => id)).toEqual(['rev_2', 'rev_1']);
  expect(asked).toHaveBeenCalledTimes(1);
});

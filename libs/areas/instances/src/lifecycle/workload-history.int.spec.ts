import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { REVISIONS } from '@slipway/ports/revisions';
import { TargetBed } from '../../test/target-bed.js';
import type { FakeRevisions } from '../../test/worker-module.js';
import { WorkloadHistory } from './workload-history.js';

let bed: TargetBed;

beforeAll(async () => {
  bed = await TargetBed.create(10);
});
afterAll(() => bed?.dispose());

it('deletes workloads that have ended and whose revision was deleted, and no others', async () => {
  const api = await bed.process('api');
  const names = ['gone', 'kept', 'wanted', 'busy', 'on_device'];
  for (const name of names) await api.want(`rev_${name}`, bed.spec());
  const owned = (text: string) => api.database.tx('system', (tx) => tx.query(text));
  await owned(`update workloads set is_active = false where revision_id <> 'rev_wanted'`);
  await owned(`delete from workload_holds where revision_id <> 'rev_wanted'`);
  for (const [name, state] of [
    ['gone', 'stopped'],
    ['busy', 'stopping'],
    ['on_device', 'stopped'],
  ])
    await owned(
      `insert into instances (id, revision_id, tenant_id, target, ordinal, state) values ('ins_${name}', 'rev_${name}', 'ten_a', 'local', 0, '${state}')`,
    );
  await owned(
    `insert into device_claims (instance_id, device_uuid, position, target, tenant_id, device_index, device_name, free_within_seconds)
     values ('ins_on_device', 'gpu', 0, 'local', 'ten_a', 0, 'gpu', 30)`,
  );
  const { deleted } = api.context.get<FakeRevisions>(REVISIONS);
  for (const name of names.filter((one) => one !== 'kept')) deleted.add(`rev_${name}`);
  await api.context.get(WorkloadHistory).run((scope, work) => api.database.tx(scope, work));
  const left = await api.database.read('system', 'select revision_id from workloads order by 1');
  expect(left).toEqual(['busy', 'kept', 'on_device', 'wanted'].map((name) => ({ revision_id: `rev_${name}` })));
});

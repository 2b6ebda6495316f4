import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ACTOR, OperationsBed, PRINCIPAL, TENANT } from '../../../test/operations/bed.js';

let bed: OperationsBed;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());

it('writes an audit row for every change that a person makes to an operation', async () => {
  const id = await bed.begin();
  const change = (name: 'cancel' | 'retry' | 'resume', before: string) =>
    bed
      .sql(`update operations set cancel_requested = false, ${before} where id = $1`, [id])
      .then(() =>
        bed.database.tx({ tenantId: TENANT }, (tx) =>
          name === 'resume' ? bed.store.resume(tx, id, PRINCIPAL) : bed.store[name](tx, id, ACTOR),
        ),
      );
  await change('cancel', `status = 'running'`);
  await change('retry', `status = 'failed', retryable = true`);
  await change('resume', `status = 'waiting', awaiting = 'approval'`);
  const rows = await bed.sql('select action, resource_type from audit_log where resource_name = $1 order by at', [id]);
  expect(rows).toEqual(
    ['cancel', 'retry', 'resume'].map((name) => ({ action: `operation.${name}`, resource_type: 'operation' })),
  );
});

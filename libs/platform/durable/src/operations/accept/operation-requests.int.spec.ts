import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { type Tx, newId } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { ACTOR, OperationsBed, PROBE } from '../../../test/operations/bed.js';
import { OperationRequests, type AcceptedOperation } from './operation.store.js';

let bed: OperationsBed;
let requests: OperationRequests;
let principal: Principal;
let number = 0;

beforeAll(async () => {
  bed = await OperationsBed.start();
  requests = bed.module.get(OperationRequests);
});
afterAll(() => bed?.stop());
beforeEach(() => {
  principal = { tenantId: newId('ten'), actor: ACTOR } as Principal;
});

const stream = () => `thing/${principal.tenantId}`;
const operation = (): AcceptedOperation => ({
  resourceId: 'thing',
  stream: stream(),
  input: { size: 1 },
  steps: PROBE.steps,
  result: { size: 'small' },
  audit: { action: 'thing.probe', resourceType: 'thing', resourceName: 'thing', actor: ACTOR },
  events: [{ type: 'thing.probed', subject: 'things/thing', actor: ACTOR, data: {} }],
  rehearsal: { would: 'probe thing', more: { size: 1 } },
});
const key = (fingerprint = 'a') => ({ method: 'POST', path: '/things', key: `key-${number}`, fingerprint });
const accept = (
  change: (tx: Tx, id: string) => Promise<AcceptedOperation> = async () => operation(),
  request: { fingerprint?: string; isDryRun?: boolean } = {},
) =>
  requests.accept(
    PROBE,
    {
      principal,
      resourceType: 'thing',
      resourceName: 'thing',
      idempotency: key(request.fingerprint),
      isDryRun: request.isDryRun,
    },
    change,
  );
/** Counts the rows of this tenant, by table. */
async function rows() {
  const counts = ['operations', 'operation_steps', 'outbox', 'audit_log'].map(
    (table) => `(select count(*)::int from ${table} where tenant_id = $1) as ${table}`,
  );
  const events = `(select array_agg(type order by sequence) from events where stream = $2) as events`;
  const [row] = await bed.sql(`select ${[...counts, events].join(', ')}`, [principal.tenantId, stream()]);
  return row;
}

beforeEach(() => {
  number += 1;
});

it('writes the operation, its steps, its wake-up, its audit row and its events in one transaction', async () => {
  const answer = await accept(async (tx, id) => {
    await tx.query('select 1');
    expect(id).toMatch(/^op_/);
    return operation();
  });
  expect(answer.status).toBe(202);
  expect(await rows()).toEqual({
    operations: 1,
    operation_steps: 1,
    outbox: 1,
    audit_log: 1,
    events: ['thing.probed'],
  });
  const [row] = await bed.sql('select input, result, requested_by from operations where tenant_id = $1', [
    principal.tenantId,
  ]);
  expect(row).toEqual({ input: { size: 1 }, result: { size: 'small' }, requested_by: ACTOR });
});

it('returns the operation of the first request to a repeat, without running the change again', async () => {
  const change = jest.fn(async () => operation());
  const answers = [await accept(change), await accept(change)];
  expect(answers.map(({ status }) => status)).toEqual([202, 200]);
  expect(answers[1]!.headers['location']).toBe(answers[0]!.headers['location']);
  expect(change).toHaveBeenCalledTimes(1);
  expect(await rows()).toMatchObject({ operations: 1, audit_log: 1, events: ['thing.probed'] });
  await expect(accept(change, { fingerprint: 'b' })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
});

it('writes nothing for a refused request, so that its key can be used again', async () => {
  const refused = async (tx: Tx) => {
    await tx.query('select 1');
    throw new Error('refused');
  };
  await expect(accept(refused)).rejects.toThrow('refused');
  expect(await rows()).toEqual({ operations: 0, operation_steps: 0, outbox: 0, audit_log: 0, events: null });
  expect((await accept(undefined, { fingerprint: 'b' })).status).toBe(202);
});

it('answers a dry run with what would happen, and writes nothing', async () => {
  const answer = await accept(undefined, { isDryRun: true });
  expect(answer).toMatchObject({
    status: 200,
    body: { valid: true, would: 'probe thing', steps: ['only'], diff: [], size: 1 },
  });
  expect(await rows()).toEqual({ operations: 0, operation_steps: 0, outbox: 0, audit_log: 0, events: null });
  expect((await accept()).status).toBe(202);
});

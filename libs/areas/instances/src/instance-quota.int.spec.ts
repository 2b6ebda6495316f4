import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { newId } from '@slipway/platform-database';
import { TargetBed, workloadOf, type Process } from '../test/target-bed.js';

const LIMIT = 5;
let bed: TargetBed;
let api: Process;
let tenantId: string;

beforeAll(async () => {
  bed = await TargetBed.create(1_000, { withTwin: true });
  api = await bed.process('api', { operator: { ...bed.config.operator, quotas: { instances: LIMIT } } });
});
afterAll(() => bed?.dispose());
beforeEach(() => {
  tenantId = newId('ten');
});

const of = (replicas: number): RevisionSpec => bed.spec({}, { scaling: { min_replicas: replicas } });
const want = (revision: string, spec: RevisionSpec) =>
  api.database.tx('system', (tx) =>
    api.instances.want(tx, { ...workloadOf(`${revision}_${tenantId}`, spec), tenantId }, 'operation:op_1'),
  );
const inTenant = <T>(work: (tx: Parameters<typeof api.instances.hold>[0]) => Promise<T>): Promise<T> =>
  api.database.tx({ tenantId }, work);
const counts = () =>
  inTenant(async (tx) => [
    (await api.instances.room(tx, { tenantId, deploymentId: 'dep_1', spec: of(1) })).wanted,
    await api.instances.needed(tx, tenantId),
  ]);
const refusal = {
  code: 'quota_exceeded',
  options: { retryable: true, evidence: { quota: 'instances', limit: LIMIT } },
};

it('A8: a tenant gets as many instances as its quota says, on all targets, and room again when some are let go', async () => {
  await want('rev_1', of(2));
  await want('rev_2', { ...bed.twinSpec(), scaling: { min_replicas: 3 } });
  await expect(want('rev_3', of(1))).rejects.toMatchObject(refusal);
  expect(await counts()).toEqual([5, 5]);
  // What it has already is not asked for again, and other tenants have their own.
  await want('rev_1', of(2));
  const mine = tenantId;
  tenantId = newId('ten');
  await want('rev_1', of(5));
  tenantId = mine;

  await inTenant((tx) => api.instances.release(tx, `rev_1_${tenantId}`, 'operation:op_1'));
  // It may still run, but nobody needs it.
  expect(await counts()).toEqual([5, 3]);
  await want('rev_3', of(2));
  await expect(want('rev_4', of(1))).rejects.toMatchObject(refusal);
});

it('A8: what is only kept warm gives way before a quota refuses', async () => {
  await want('rev_1', of(3));
  await want('rev_2', of(2));
  await inTenant(async (tx) => {
    await api.instances.hold(tx, `rev_1_${tenantId}`, 'warm', 3_600);
    await api.instances.release(tx, `rev_1_${tenantId}`, 'operation:op_1');
  });
  expect(await counts()).toEqual([5, 2]);
  expect(await inTenant((tx) => api.instances.needed(tx, tenantId, `rev_2_${tenantId}`))).toBe(0);
  await expect(want('rev_3', of(4))).rejects.toMatchObject(refusal);
  const status = () => inTenant((tx) => api.instances.status(tx, `rev_1_${tenantId}`));
  expect((await status())?.desired).toBe(3);
  await want('rev_3', of(3));
  expect((await status())?.desired).toBe(0);
  expect(await counts()).toEqual([8, 5]);
});

it('A8: of thirty wishes at once, on two targets, exactly as many are granted as the quota says', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) => want(`rev_${n}`, n % 2 === 0 ? of(1) : bed.twinSpec())),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
  expect(await counts()).toEqual([LIMIT, LIMIT]);
});

it('counts an adopted server once, however many are asked for', async () => {
  const replicas = (spec: RevisionSpec) =>
    inTenant(async (tx) => (await api.instances.room(tx, { tenantId, deploymentId: 'dep_1', spec })).replicas);
  expect(await replicas(of(3))).toBe(3);
  expect(await replicas({ ...of(3), runtime: { target: 'adopted', args: {}, env: {} } })).toBe(1);
  expect(await replicas({ ...of(3), runtime: { target: 'gone', args: {}, env: {} } })).toBe(0);
});

it('at its quota a tenant gives up what is only warm, the longest warm first', async () => {
  for (const revision of ['rev_1', 'rev_2', 'rev_3']) await want(revision, of(1));
  await want('rev_4', of(2));
  // Kept warm for longest, and needed all the same.
  for (const revision of ['rev_1', 'rev_3', 'rev_2'])
    await inTenant((tx) => api.instances.hold(tx, `${revision}_${tenantId}`, 'warm', 3_600));
  for (const revision of ['rev_3', 'rev_2'])
    await inTenant((tx) => api.instances.release(tx, `${revision}_${tenantId}`, 'operation:op_1'));
  await want('rev_5', of(1));
  const desired = (revision: string) =>
    inTenant(async (tx) => (await api.instances.status(tx, `${revision}_${tenantId}`))?.desired);
  expect([await desired('rev_1'), await desired('rev_3'), await desired('rev_2')]).toEqual([1, 0, 1]);
});

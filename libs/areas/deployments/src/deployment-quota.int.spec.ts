import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DeploymentsBed } from '../test/deployments-bed.js';

const LIMIT = 5;
let bed: DeploymentsBed;

beforeAll(async () => {
  bed = await DeploymentsBed.start({
    quotas: { deployments: LIMIT, tenants: { ten_big: { deployments: LIMIT + 1 } } },
  });
}, 60_000);
afterAll(() => bed?.stop());

const create = (name: string, tenant: string, query = '') =>
  bed.send('POST', `/deployments${query}`, { tenant, body: { name } });
const statuses = async (count: number, tenant: string): Promise<number[]> => {
  const answers = await Promise.all(Array.from({ length: count }, (_, n) => create(`chat-${n}`, tenant)));
  return answers.map(({ status }) => status).sort();
};

it('a tenant has at most the deployments of its quota, and may create one after another is deleted', async () => {
  for (let n = 0; n < LIMIT; n += 1) expect((await create(`chat-${n}`, 'ten_a')).status).toBe(201);
  const refused = await create('one-more', 'ten_a');
  expect([refused.status, refused.body.error]).toEqual([
    429,
    expect.objectContaining({
      code: 'quota_exceeded',
      quota: 'deployments',
      limit: LIMIT,
      retryable: false,
      message: 'Tenant quota deployments exceeded: at most 5 deployments; 5 are in use and the request needs 1 more.',
    }),
  ]);
  // A rehearsal is refused too, but a taken name is reported as taken.
  expect((await create('one-more', 'ten_a', '?validate_only=true')).status).toBe(429);
  expect((await create('chat-1', 'ten_a')).status).toBe(409);
  expect((await create('elsewhere', 'ten_b')).status).toBe(201);

  const { body } = await bed.send('DELETE', '/deployments/chat-1', { tenant: 'ten_a' });
  await bed.finish(body.operation.id);
  expect((await create('one-more', 'ten_a')).status).toBe(201);
  expect((await create('two-more', 'ten_a')).status).toBe(429);
});

it('thirty concurrent creations leave exactly as many deployments as the quota allows', async () => {
  const accepted = (some: number[]): number => some.filter((status) => status === 201).length;
  expect(accepted(await statuses(30, 'ten_c'))).toBe(LIMIT);
  expect(accepted(await statuses(30, 'ten_big'))).toBe(LIMIT + 1);
});

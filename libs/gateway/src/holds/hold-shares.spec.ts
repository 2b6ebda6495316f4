import { beforeEach, expect, it } from '@jest/globals';
import { HoldShares } from './hold-shares.js';

let shares: HoldShares;
beforeEach(() => {
  shares = new HoldShares({ maxRequests: 4, maxBytes: 400 });
});

/** Returns how many of twenty requests with this many bytes a tenant may start. */
function got(tenantId: string, deploymentId: string, ownerId = tenantId, bytes = 1): number {
  const asked = Array.from({ length: 20 }, () => shares.take({ tenantId, deploymentId, ownerId, bytes }));
  return asked.filter(Boolean).length;
}

it('bounds the requests of a deployment, of a tenant, and of the gateway', () => {
  expect(got('ten_1', 'dep_1')).toBe(4);
  expect(got('ten_1', 'dep_2')).toBe(4);
  expect(got('ten_1', 'dep_3')).toBe(0);
  expect(got('ten_2', 'dep_4') + got('ten_2', 'dep_5')).toBe(8);
  expect(got('ten_3', 'dep_6')).toBe(0);
  expect(shares.requests).toBe(16);
});

it('bounds the bytes of their bodies in the same way, and refuses a body that is larger than the whole bound', () => {
  expect(got('ten_1', 'dep_1', 'ten_1', 401)).toBe(0);
  expect(got('ten_1', 'dep_1', 'ten_1', 150)).toBe(2);
  expect(got('ten_1', 'dep_2', 'ten_1', 200)).toBe(2);
  expect(got('ten_1', 'dep_3', 'ten_1', 101)).toBe(0);
  expect(got('ten_1', 'dep_3', 'ten_1', 100)).toBe(1);
});

it('leaves half of a deployment’s capacity to its owner', () => {
  expect(got('ten_guest', 'dep_1', 'ten_owner')).toBe(2);
  expect(got('ten_owner', 'dep_1')).toBe(2);
  expect(got('ten_other', 'dep_1', 'ten_owner')).toBe(0);
});

it('has returned capacity available again, and takes none for a refused request', () => {
  const waiter = { tenantId: 'ten', deploymentId: 'dep', ownerId: 'ten', bytes: 200 };
  const [first, second] = [shares.take(waiter), shares.take(waiter)];
  expect(shares.take(waiter)).toBeUndefined();
  first!();
  expect(shares.requests).toBe(1);
  second!();
  expect(got('ten', 'dep', 'ten', 100)).toBe(4);
});

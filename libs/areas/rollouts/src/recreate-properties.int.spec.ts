import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { OperationCase, OperationRecord } from '@slipway/platform-durable/operations/testing';
import { everyStepRecovers, expectAtRest, RolloutsBed, spec, TENANT } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => bed.neighbours.statuses.clear());

/** Asserts that nothing of the operation remains, also nothing that prevents the revision from running. */
const restsOn = async (record: OperationRecord, number: number) => {
  const id = await expectAtRest(bed, record, number);
  expect([...bed.neighbours.heldBy(id).keys()]).toEqual([]);
  expect(bed.neighbours.suspended.has(id)).toBe(false);
};

const recreate = (): OperationCase => ({
  harness: bed.harness,
  tenantId: TENANT,
  kind: 'rollout',
  begin: async () => {
    bed.neighbours.capacity = undefined;
    const deployment = await bed.serving();
    const steps = [{ traffic_percent: 100, soak_seconds: 0, requires_approval: false, pause: false }];
    return bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'recreate', steps } });
  },
  assertSucceeded: (record) => restsOn(record, 2),
  assertUnwound: (record) => restsOn(record, 1),
});

const rollback = (): OperationCase => ({
  harness: bed.harness,
  tenantId: TENANT,
  kind: 'rollback',
  begin: async () => {
    bed.neighbours.capacity = undefined;
    const deployment = await bed.serving(2);
    bed.neighbours.holds.delete((await bed.revision(deployment, 1)).id);
    bed.neighbours.capacity = { total: 1, others: 0 };
    const id = await bed.rollback(deployment);
    return id;
  },
  assertSucceeded: (record) => restsOn(record, 1),
  // If nothing was stopped yet, the earlier route is restored. After that, the target has the traffic, ready or not.
  assertUnwound: (record) => {
    const { index } = record['steps'].find((one: any) => one.status === 'failed');
    return restsOn(record, index <= 2 ? 2 : 1);
  },
});

it.each([
  ['recreate', recreate],
  ['rollback without room', rollback],
])(
  'every step of a %s is repeatable, cleans up after a failure, and resumes after a crash around its commit',
  (_what, one) => everyStepRecovers(one),
  120_000,
);

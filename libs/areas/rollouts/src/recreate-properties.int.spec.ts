import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
  type OperationRecord,
} from '@slipway/platform-durable/operations/testing';
import type { Deployment } from '@slipway/ports/deployment-records';
import { RolloutsBed, spec, TENANT } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => bed.neighbours.statuses.clear());

const broken = (step: string) => new StepFailed(operationFailures.dependency_outage, `${step} broke`);
const deploymentOf = (record: OperationRecord) =>
  [...bed.neighbours.deployments.values()].find((one) => one.name === record['resource_name']) as Deployment;

/**
 * Asserts that nothing of the operation remains: no hold, no owner, and nothing that prevents the revision with the
 * traffic from running.
 */
const restsOn = async (record: OperationRecord, number: number) => {
  const deployment = deploymentOf(record);
  const { id, name } = await bed.revision(deployment, number);
  expect(bed.targets(deployment)).toEqual([[name, 100]]);
  expect(bed.neighbours.routes.get(deployment.id)?.hold ?? null).toBeNull();
  expect([deployment.currentOperationId, bed.neighbours.owners.get(deployment.id)]).toEqual([null, undefined]);
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
  async (_what, one) => {
    await everyStepIsRepeatable(one());
    await everyStepMayFail(one(), broken);
    await everyCrashResumes(one());
  },
  120_000,
);

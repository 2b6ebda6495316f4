import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Deployment } from '@slipway/ports/deployment-records';
import { IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

const REVISIONS = 3;
const INSTANCES = 5;
let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start({ revisions: REVISIONS, instances: INSTANCES });
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  bed.neighbours.wanted = 0;
  bed.neighbours.needed = () => 0;
});

const refusal = (quota: string, limit: number, retryable: boolean) => ({
  status: 429,
  code: 'quota_exceeded',
  retryable,
  extra: { quota, limit },
});
const of = (replicas: number) => ({
  spec: { ...spec('next'), scaling: { min_replicas: replicas } },
  strategy: IMMEDIATE,
});
const rollOut = async (deployment: Deployment, model: string) =>
  bed.finish(await bed.rollout(deployment, { spec: spec(model), strategy: IMMEDIATE }));

it('a deployment keeps at most the revisions of its quota, and may add one when one is collected', async () => {
  const deployment = await bed.serving(REVISIONS);
  const more = { spec: spec('one-more'), strategy: IMMEDIATE };
  await expect(bed.ask(deployment, more)).rejects.toMatchObject(refusal('revisions', REVISIONS, true));
  await expect(bed.rehearse(deployment, more)).rejects.toMatchObject(refusal('revisions', REVISIONS, true));
  // The refusals have written nothing. So the deployment can roll out a spec that it already has, and another
  // deployment a new one.
  expect(await rollOut(deployment, 'm-1')).toMatchObject({ status: 'succeeded', result: { reused: true } });
  expect(await rollOut(bed.deployment(), 'one-more')).toMatchObject({ status: 'succeeded' });

  await bed.sql('delete from revisions where id = $1', [(await bed.revision(deployment, 2)).id]);
  expect(await rollOut(deployment, 'one-more')).toMatchObject({ status: 'succeeded' });
});

it("a rollout or rehearsal that would exceed the tenant's quota of instances is refused", async () => {
  const deployment = await bed.serving();
  bed.neighbours.wanted = 3;
  bed.neighbours.needed = () => 3;
  await expect(bed.ask(deployment, of(3))).rejects.toMatchObject(refusal('instances', INSTANCES, false));
  await expect(bed.rehearse(deployment, of(3))).rejects.toMatchObject(refusal('instances', INSTANCES, false));
  expect(deployment.currentOperationId).toBeNull();
  // The fakes of this bed do not undo a successful rehearsal, so each rehearsal uses its own deployment.
  await expect(bed.rehearse(bed.deployment(), of(2))).resolves.toMatchObject({ status: 200 });
  // Two of the running instances are only kept warm, so they give way.
  bed.neighbours.needed = () => 1;
  await expect(bed.rehearse(deployment, of(5))).rejects.toMatchObject(refusal('instances', INSTANCES, false));
  expect((await bed.ask(deployment, of(4))).created).toBe(true);
});

it('the instances that a rollout starts with count, even if its spec requires fewer', async () => {
  const deployment = await bed.serving();
  bed.neighbours.wanted = 3;
  bed.neighbours.needed = () => 3;
  bed.neighbours.replicas = 3;
  try {
    await expect(bed.rehearse(deployment, of(1))).rejects.toMatchObject(refusal('instances', INSTANCES, false));
  } finally {
    bed.neighbours.replicas = undefined;
  }
});

it('a revision that already runs needs no more instances of the quota', async () => {
  const deployment = await bed.serving();
  const { id } = await bed.revision(deployment, 1);
  bed.neighbours.wanted = INSTANCES;
  bed.neighbours.needed = (except) => (except === id ? INSTANCES - 1 : INSTANCES);
  await expect(bed.rehearse(deployment, { spec: spec('m-2') })).rejects.toMatchObject(
    refusal('instances', INSTANCES, false),
  );
  await expect(bed.rehearse(deployment, { spec: spec('m-1') })).resolves.toMatchObject({ status: 200 });
});

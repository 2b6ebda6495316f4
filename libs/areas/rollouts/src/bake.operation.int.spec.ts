import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
  await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
}, 60_000);
afterAll(() => bed?.stop());

const SECONDS = 300;
const bake = {
  seconds: SECONDS,
  metrics: [
    { name: 'error_rate', check: 'threshold', threshold: 0.05, min_samples: 50, failure_limit: 0, dry_run: false },
  ],
} as never;

/** A deployment whose second revision has been promoted with a bake, and the bake's operation. */
async function baking() {
  const deployment = await bed.serving();
  const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { ...IMMEDIATE, bake } });
  const record = await bed.finish(id);
  expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
  const bakeId = (record['result'] as any).bake_operation_id as string;
  expect(await bed.drive(bakeId)).toMatchObject({ kind: 'bake', status: 'waiting', waiting_for: 'soak' });
  return { deployment, id, bakeId };
}
const started = async (bakeId: string, secondsAgo: number): Promise<void> => bed.soakingFor(bakeId, secondsAgo);

async function served(deployment: { id: string }, seconds: number, what: { ok?: number; failed?: number }) {
  const revision = await bed.revision(deployment as never, 2);
  for (let second = 0; second < seconds; second += 1)
    await bed.served(revision.id, { ...what, secondsAgo: second + 4 });
}

it('passes without a breach', async () => {
  const { deployment, bakeId } = await baking();
  await served(deployment, 20, { ok: 10 });
  await started(bakeId, SECONDS + 4);
  expect(await bed.wake(bakeId)).toMatchObject({ status: 'succeeded', result: { outcome: 'passed' } });
  expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00002`, 100]]);
});

it('rolls back at a breach, once, whatever happens between', async () => {
  const { deployment, bakeId } = await baking();
  await served(deployment, 20, { ok: 5, failed: 5 });
  await started(bakeId, 24);
  const { steps } = bed.harness.definitions.find('bake')!;
  const watch = steps['watch']!;
  // The worker dies after it has begun the rollback.
  steps['watch'] = async (context) => {
    steps['watch'] = watch;
    await watch(context);
    throw new Error('killed');
  };
  const record = await bed.finish(bakeId);
  expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'rolled_back' } });
  const rollbacks = await bed.sql(
    `select id, requested_by from operations where kind = 'rollback' and resource_name = $1`,
    [deployment.name],
  );
  expect(rollbacks).toEqual([
    { id: (record['result'] as any).rollback_operation_id, requested_by: { type: 'system', id: 'bake' } },
  ]);
  expect(await bed.finish(rollbacks[0].id)).toMatchObject({ status: 'succeeded', result: { outcome: 'rolled_back' } });
  expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00001`, 100]]);
  expect(bed.neighbours.abandoned).toEqual([(await bed.revision(deployment, 2)).id]);
});

it('judges its end, even if the look before it has read all records', async () => {
  const { deployment, bakeId } = await baking();
  await bed.served((await bed.revision(deployment, 2)).id, { ok: 70, failed: 30, secondsAgo: 60 });
  await started(bakeId, SECONDS + 4);
  const state = { until: new Date().toISOString(), evidence: {}, limits: null, looks: 99, requests: 100 };
  await bed.sql('update operation_steps set state = $2 where operation_id = $1', [bakeId, { watch: state }]);
  expect(await bed.wake(bakeId)).toMatchObject({ status: 'succeeded', result: { outcome: 'rolled_back' } });
});

it('ends when the traffic changes, and rolls back nothing then', async () => {
  const { deployment, bakeId } = await baking();
  await served(deployment, 20, { failed: 10 });
  const next = await bed.rollout(deployment, { spec: spec('third'), strategy: IMMEDIATE });
  await bed.finish(next);
  await started(bakeId, 24);
  expect(await bed.wake(bakeId)).toMatchObject({ status: 'succeeded', result: { outcome: 'ended' } });
  expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00003`, 100]]);
});

it('is begun once, even if the step that begins it is repeated', async () => {
  const deployment = await bed.serving();
  const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { ...IMMEDIATE, bake } });
  const { steps } = bed.harness.definitions.find('rollout')!;
  const begin = steps['begin_bake']!;
  steps['begin_bake'] = async (context) => {
    steps['begin_bake'] = begin;
    await begin(context);
    throw new Error('killed');
  };
  expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
  expect(
    await bed.sql(`select 1 as one from operations where kind = 'bake' and resource_name = $1`, [deployment.name]),
  ).toHaveLength(1);
});

it('is refused without the previous revision to roll back to', async () => {
  const deployment = await bed.serving();
  const ask = bed.rollout(deployment, {
    spec: spec('next'),
    strategy: { ...IMMEDIATE, bake },
    keep_previous_seconds: SECONDS - 1,
  });
  await expect(ask).rejects.toMatchObject({ details: [{ field: 'keep_previous_seconds', code: 'min' }] });
});

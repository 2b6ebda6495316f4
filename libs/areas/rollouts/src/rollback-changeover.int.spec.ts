import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  bed.neighbours.capacity = { total: 1, others: 0 };
  bed.neighbours.startSeconds = 40;
});
afterEach(() => bed.neighbours.statuses.clear());

const changes = () =>
  bed.neighbours.routeChanges.map((change) => [
    change?.targets.map((one) => one.revisionName.slice(-1)).join(),
    change?.hold?.maxSeconds ?? null,
  ]);
const STEPS = [
  'resolve_target',
  'preflight',
  'hold_requests',
  'stop_previous',
  'ensure_ready',
  'shift_traffic',
  'release_requests',
  'verify',
];

/** Two revisions were active, and the first one was stopped for the second. */
const recreated = async () => {
  bed.neighbours.capacity = undefined;
  const deployment = await bed.serving(2);
  bed.neighbours.capacity = { total: 1, others: 0 };
  const [one, two] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
  bed.neighbours.holds.delete(one.id);
  return { deployment, one, two };
};

it('stops the active revision, dead or not, then starts its target, while requests wait', async () => {
  const { deployment, one, two } = await recreated();
  bed.neighbours.statuses.set(two.id, { ready: 0, message: 'killed' });
  const rehearsed = (await bed.rehearseBack(deployment)) as any;
  expect(rehearsed).toMatchObject({ steps: STEPS, capacity: { needed: 1, free: 0, gap_seconds: 40 } });
  deployment.currentOperationId = null;
  bed.neighbours.owners.clear();
  const id = await bed.rollback(deployment);
  bed.neighbours.statuses.set(two.id, { ready: 0, alive: 1 });
  await bed.begin(id);
  expect(changes()).toEqual([['2', 60]]);
  await bed.wake(id);
  expect(await bed.wake(id)).toMatchObject({ current_step: 'stop_previous' });
  expect(bed.neighbours.suspended.get(two.id)).toBe(id);
  // No instance of the target is retained before the revision that uses its capacity has stopped.
  expect(bed.neighbours.holds.has(one.id)).toBe(false);
  bed.neighbours.statuses.clear();
  const record = await bed.finish(id);
  expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'rolled_back', gap_seconds: 1.5 } });
  expect(record['steps'].map((step: any) => step.name)).toEqual(STEPS);
  expect(changes()).toEqual([
    ['2', 60],
    ['1', 60],
    ['1', null],
  ]);
  expect(await bed.activations(deployment)).toEqual(['1', '2 left', '1']);
  expect([...bed.neighbours.heldBy(two.id).keys()]).toEqual([]);
  expect(deployment).toMatchObject({ state: 'active', activeRevisionId: one.id });
});

it('stops nothing first if its target runs or has capacity', async () => {
  const warm = await recreated();
  bed.neighbours.statuses.set(warm.one.id, { ready: 1 });
  bed.neighbours.heldBy(warm.one.id).set('warm', 900);
  expect(((await bed.rehearseBack(warm.deployment)) as any).steps).not.toContain('stop_previous');
  const roomy = await recreated();
  bed.neighbours.capacity = { total: 2, others: 0 };
  expect(((await bed.rehearseBack(roomy.deployment)) as any).steps).not.toContain('stop_previous');
});

it('retries its target until the deadline, then gives it the traffic anyway, and never restarts the previous one', async () => {
  const { deployment, one, two } = await recreated();
  const id = await bed.rollback(deployment);
  bed.neighbours.statuses.set(one.id, { ready: 0, reason: 'program_not_found', message: 'it is gone' });
  for (let look = 0; look < 7; look += 1) await (look === 0 ? bed.drive(id) : bed.wake(id));
  expect(await bed.record(id)).toMatchObject({
    status: 'running',
    current_step: 'ensure_ready',
    message: expect.stringContaining('it is gone'),
  });
  await bed.age(id, 601);
  expect(await bed.finish(id)).toMatchObject({
    status: 'failed',
    error_code: 'target_not_ready',
    result: { outcome: 'failed_down', gap_seconds: 1.5 },
  });
  expect(changes()).toEqual([
    ['2', 60],
    ['1', null],
  ]);
  expect(bed.neighbours.heldBy(two.id).size).toBe(0);
  expect(deployment).toMatchObject({ state: 'degraded', activeRevisionId: one.id });
  expect(bed.neighbours.routes.get(deployment.id)?.hold).toBeNull();
});

it('restores the route if cancelled before it stops anything, and otherwise continues to its target', async () => {
  const early = await recreated();
  const first = await bed.rollback(early.deployment);
  await bed.cancel(first);
  expect(await bed.finish(first)).toMatchObject({ status: 'cancelled', result: { outcome: 'reverted' } });
  expect(bed.targets(early.deployment)).toEqual([[early.two.name, 100]]);
  const late = await recreated();
  const second = await bed.rollback(late.deployment);
  bed.neighbours.statuses.set(late.two.id, { alive: 1 });
  for (let look = 0; look < 4; look += 1) await (look === 0 ? bed.drive(second) : bed.wake(second));
  await bed.cancel(second);
  expect(await bed.finish(second)).toMatchObject({ status: 'cancelled', result: { outcome: 'failed_down' } });
  expect(bed.targets(late.deployment)).toEqual([[late.one.name, 100]]);
  expect(bed.neighbours.heldBy(late.one.id).size).toBe(0);
});

it('a rollback of a recreate takes over its held requests and releases them to the stopped revision', async () => {
  const deployment = await bed.serving();
  const stable = await bed.revision(deployment, 1);
  const strategy = { type: 'recreate' as const, hold_seconds: 90 };
  const rollout = await bed.rollout(deployment, { spec: spec('next'), strategy });
  const candidate = await bed.revision(deployment, 2);
  bed.neighbours.statuses.set(candidate.id, { ready: 0 });
  for (let look = 0; look < 6; look += 1) await (look === 0 ? bed.drive(rollout) : bed.wake(rollout));
  expect((await bed.record(rollout))['current_step']).toBe('await_ready');
  const id = await bed.rollback(deployment);
  // The suspension ended with the rollout.
  bed.neighbours.suspended.clear();
  expect(bed.neighbours.owners.get(deployment.id)).toBe(id);
  expect(bed.neighbours.routes.get(deployment.id)?.hold).toMatchObject({ maxSeconds: 90 });
  for (const one of [stable, candidate]) expect([...bed.neighbours.heldBy(one.id).keys()]).toEqual([]);
  const record = await bed.finish(id);
  expect(record).toMatchObject({
    status: 'succeeded',
    result: { outcome: 'rolled_back', because: 'active_when_rollout_began', gap_seconds: 1.5 },
  });
  expect(bed.targets(deployment)).toEqual([[stable.name, 100]]);
  expect(bed.neighbours.routes.get(deployment.id)?.hold).toBeNull();
});

import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { OperationCase, OperationRecord } from '@slipway/platform-durable/operations/testing';
import { everyStepRecovers, expectAtRest, IMMEDIATE, RolloutsBed, spec, TENANT } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  Object.assign(bed.neighbours.members, { hasCapacity: true, startsWork: true });
  bed.neighbours.members.replaced.length = 0;
  bed.neighbours.members.adopted.clear();
});

/** A deployment with one revision that serves with so many instances. */
async function served(instances: number) {
  const deployment = await bed.serving();
  const { id } = await bed.revision(deployment, 1);
  return { deployment, revisionId: id, members: bed.neighbours.members.set(id, instances) };
}
const stepsOf = (record: any) =>
  record.steps.filter((step: any) => !step.is_unwind).map(({ name, status }: any) => `${name} ${status}`);
const generations = (revisionId: string) => bed.neighbours.members.get(revisionId).map(({ generation }) => generation);
const replacedIds = () => bed.neighbours.members.replaced.map(([id]) => id);
const holds = () => bed.neighbours.routeChanges.map((change) => change?.hold?.maxSeconds ?? null);

it('restarts every instance, next to one more, without a change of the route', async () => {
  const { deployment, revisionId, members } = await served(3);
  const record = await bed.finish(await bed.restart(deployment, { reason: 'new certificate' }));
  expect(record).toMatchObject({
    kind: 'restart',
    status: 'succeeded',
    reason: 'new certificate',
    result: { instances: 3, restarted: 3 },
  });
  expect(stepsOf(record)).toEqual([
    'add_instance succeeded',
    'hold_requests skipped',
    'replace_instances succeeded',
    'release_requests skipped',
    'remove_instance succeeded',
  ]);
  expect(replacedIds()).toEqual(members.filter(({ isSpare }) => !isSpare).map(({ id }) => id));
  expect(generations(revisionId)).toEqual([2, 2, 2]);
  expect(bed.neighbours.routeChanges).toEqual([]);
  expect(deployment).toMatchObject({ state: 'active', currentOperationId: null });
  expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
  expect(await bed.events(deployment, 'restart.completed')).toMatchObject([{ outcome: 'succeeded', restarted: 3 }]);
  expect(await bed.audits(deployment, 'deployment.restart')).toBe(1);
});

it('restarts in place what has other instances, and holds requests for the only one, if there is no capacity', async () => {
  bed.neighbours.members.hasCapacity = false;
  const several = await served(2);
  expect(stepsOf(await bed.finish(await bed.restart(several.deployment)))).toContain('hold_requests skipped');
  expect(generations(several.revisionId)).toEqual([2, 2]);
  expect(holds()).toEqual([]);

  const single = await served(1);
  const record = await bed.finish(await bed.restart(single.deployment, { hold_seconds: 90 }));
  expect(record).toMatchObject({ status: 'succeeded', result: { restarted: 1, gap_seconds: 1.5 } });
  expect(holds()).toEqual([90, null]);
  // Requests in flight may take no longer than those that wait.
  expect(bed.neighbours.members.replaced.at(-1)).toEqual([single.members[0]!.id, 90]);
});

it('stops no instance while no other one serves', async () => {
  bed.neighbours.members.hasCapacity = false;
  const { deployment, members } = await served(2);
  members[1]!.state = 'unhealthy';
  bed.neighbours.members.startsWork = false;
  const id = await bed.restart(deployment);
  // First the one that does not serve. The other waits for it.
  await bed.drive(id);
  expect(await bed.wake(id)).toMatchObject({ status: 'running', current_step: 'replace_instances' });
  await bed.wake(id);
  expect(replacedIds()).toEqual([members[1]!.id]);
  members[1]!.state = 'ready';
  await bed.wake(id);
  expect(replacedIds()).toEqual([members[1]!.id, members[0]!.id]);
  members[0]!.state = 'ready';
  expect(await bed.wake(id)).toMatchObject({ status: 'succeeded', result: { restarted: 2 } });
});

it('fails at the first instance that does not start, and a retry continues with those that are left', async () => {
  const { deployment, revisionId, members } = await served(3);
  const [first, second] = members;
  const id = await bed.restart(deployment, { progress_deadline_seconds: 5 });
  await bed.drive(id);
  await bed.wake(id);
  bed.neighbours.members.startsWork = false;
  await bed.wake(id);
  expect(replacedIds()).toEqual([first!.id, second!.id]);
  second!.message = 'out of memory';
  await bed.wake(id);
  await bed.age(id, 6);
  expect(await bed.finish(id)).toMatchObject({
    status: 'failed',
    error_code: 'target_not_ready',
    message: expect.stringContaining('out of memory'),
  });
  expect(generations(revisionId)).toEqual([2, 2, 1]);
  expect(deployment).toMatchObject({ state: 'active', currentOperationId: null });
  Object.assign(second!, { state: 'ready', message: null });
  bed.neighbours.members.startsWork = true;
  await bed.retry(id);
  expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { restarted: 3 } });
  expect(generations(revisionId)).toEqual([2, 2, 2]);
});

it('counts an instance that has crashed since the request as restarted', async () => {
  const { deployment, revisionId, members } = await served(2);
  const id = await bed.restart(deployment);
  members[0]!.generation = 2;
  await bed.finish(id);
  expect(replacedIds()).toEqual([members[1]!.id]);
  expect(generations(revisionId)).toEqual([2, 2]);
});

it('adds, holds and restarts nothing if no instance was running, also if one has started since', async () => {
  const { deployment, revisionId } = await served(0);
  const id = await bed.restart(deployment);
  bed.neighbours.members.set(revisionId, 1);
  const record: any = await bed.finish(id);
  expect(record).toMatchObject({ status: 'succeeded', result: { instances: 0, restarted: 0 } });
  expect(stepsOf(record).slice(0, 2)).toEqual(['add_instance skipped', 'hold_requests skipped']);
  expect(record.steps[0].message).toBe('No instance was running at the request.');
  expect([replacedIds(), holds()]).toEqual([[], []]);
});

it('is refused during another operation, for adopted servers, and without a revision that serves', async () => {
  const { deployment } = await served(1);
  const rollout = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
  await expect(bed.restart(deployment)).rejects.toMatchObject({
    code: 'operation_in_progress',
    extra: { operation_id: rollout },
  });
  await bed.finish(rollout);
  bed.neighbours.members.adopted.add('next');
  await expect(bed.restart(deployment)).rejects.toMatchObject({
    code: 'restart_not_supported',
    message: expect.stringContaining(`${deployment.name}-00002`),
  });
  await expect(bed.restart(bed.deployment())).rejects.toMatchObject({ code: 'nothing_to_restart' });
});

it('keeps a rollout, a rollback and another restart away, and a repeat with its key adopts it', async () => {
  const { deployment } = await served(1);
  const key = { method: 'POST', path: '/restart', key: 'k', fingerprint: 'same' };
  const first = await bed.askRestart(deployment, {}, key);
  expect(await bed.askRestart(deployment, {}, key)).toMatchObject({
    created: false,
    operation: { id: first.operation.id },
  });
  const busy = { code: 'operation_in_progress' };
  await expect(bed.restart(deployment)).rejects.toMatchObject(busy);
  await expect(bed.rollout(deployment, { spec: spec('next') })).rejects.toMatchObject(busy);
  await bed.finish(first.operation.id);
});

/** Asserts that nothing of the operation remains, also no additional instance. */
const rests = async (record: OperationRecord) => {
  const id = await expectAtRest(bed, record, 1);
  expect(bed.neighbours.members.get(id).some(({ isSpare }) => isSpare)).toBe(false);
};
const restartCase = (hasCapacity: boolean): OperationCase => ({
  harness: bed.harness,
  tenantId: TENANT,
  kind: 'restart',
  begin: async () => {
    bed.neighbours.members.hasCapacity = hasCapacity;
    return bed.restart((await served(1)).deployment);
  },
  assertSucceeded: async (record) => {
    await rests(record);
    expect(record['result']).toMatchObject({ restarted: 1 });
  },
  assertUnwound: rests,
});

it.each([
  ['with one more instance', true],
  ['while requests wait', false],
])(
  'every step of a restart %s is repeatable, cleans up after a failure, and resumes after a crash',
  (_what, hasCapacity) => everyStepRecovers(() => restartCase(hasCapacity)),
  120_000,
);

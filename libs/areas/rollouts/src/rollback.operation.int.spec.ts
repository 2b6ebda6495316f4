import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { RouteAffinity } from '@slipway/ports/routing';
import { ACTOR, canary, IMMEDIATE, RolloutsBed, spec, TENANT } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
afterEach(() => {
  bed.neighbours.statuses.clear();
  bed.neighbours.issues = [];
});

const stepOf = (record: any, name: string) => record.steps.find((step: any) => step.name === name);
const name = (deployment: Deployment, number: number) => `${deployment.name}-0000${number}`;
const asksAt = (percent: number) => [
  { traffic_percent: percent, soak_seconds: 0, requires_approval: true, pause: false },
  ...canary(100).steps,
];
/** A deployment with a rollout that has moved a quarter of the traffic and waits for a person. */
const atAQuarter = async (revisions = 1, model = 'next') => {
  const deployment = await bed.serving(revisions);
  const rollout = await begin(deployment, model);
  return { deployment, rollout, candidate: (await bed.record(rollout))['result'].revision as string };
};
const begin = async (deployment: Deployment, model = 'next') => {
  const strategy = { type: 'canary' as const, steps: asksAt(25) };
  const rollout = await bed.rollout(deployment, { spec: spec(model), strategy });
  expect(await bed.finish(rollout)).toMatchObject({ status: 'waiting', current_step: 'await_promotion:1' });
  return rollout;
};
const isDown = async (deployment: Deployment, number: number) =>
  bed.neighbours.statuses.set((await bed.revision(deployment, number)).id, { ready: 0 });
const setRoute = (deployment: Deployment, weights: [string, string, number][], affinity?: RouteAffinity) =>
  bed.database.tx({ tenantId: TENANT }, (tx) =>
    bed.neighbours.routesPort.apply(tx, {
      tenantId: TENANT,
      deploymentId: deployment.id,
      deploymentName: deployment.name,
      targets: weights.map(([revisionId, revisionName, weight]) => ({ revisionId, revisionName, weight })),
      affinity,
      updatedBy: ACTOR,
      keepPreviousSeconds: 0,
    }),
  );

describe('a rollback of a running canary that ends before it has moved the traffic', () => {
  /** Ways in which a rollback ends before it reaches its target. */
  const ENDS: [string, (deployment: Deployment) => Promise<string>, object][] = [
    [
      'cancelled before it began',
      async (deployment) => {
        const id = await bed.rollback(deployment);
        await bed.cancel(id);
        return id;
      },
      { status: 'cancelled', error_code: 'cancelled_by_user' },
    ],
    [
      'cancelled while it waits for its target',
      async (deployment) => {
        const id = await bed.rollback(deployment, { to_revision: '1' });
        await isDown(deployment, 1);
        expect(await bed.drive(id)).toMatchObject({ current_step: 'ensure_ready' });
        expect(bed.targets(deployment)).toEqual([
          [name(deployment, 1), 75],
          [name(deployment, 2), 25],
        ]);
        await bed.cancel(id);
        return id;
      },
      { status: 'cancelled', error_code: 'cancelled_by_user' },
    ],
    [
      'failed, because its target does not become ready',
      async (deployment) => {
        const id = await bed.rollback(deployment, { to_revision: '1' });
        await isDown(deployment, 1);
        await bed.drive(id);
        await bed.age(id, 601);
        return id;
      },
      { status: 'failed', error_code: 'target_not_ready' },
    ],
    [
      'failed, because no target runs it any more',
      async (deployment) => {
        const id = await bed.rollback(deployment);
        bed.neighbours.issues = [{ field: 'runtime.engine', code: 'unknown', message: 'nobody knows it' }];
        return id;
      },
      { status: 'failed', error_code: 'validation_failed' },
    ],
    [
      'failed, because the traffic cannot be moved',
      async (deployment) => {
        const id = await bed.rollback(deployment);
        await bed.whileBroken('rollback', 'shift_traffic', () => bed.finish(id));
        return id;
      },
      { status: 'failed', error_code: 'attempts_exhausted' },
    ],
  ];

  it.each(ENDS)('%s: it restores the route from before the rollout', async (_how, end, ended) => {
    const { deployment, candidate } = await atAQuarter();
    const id = await end(deployment);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ ...ended, result: { outcome: 'reverted' } });
    expect(stepOf(record, 'revert_traffic')).toMatchObject({
      status: 'succeeded',
      message: 'The previous route is restored.',
    });
    expect(bed.targets(deployment)).toEqual([[name(deployment, 1), 100]]);
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect([...bed.neighbours.heldBy((await bed.revision(deployment, candidate)).id)]).toEqual([]);
    expect(deployment).toMatchObject({
      state: record['status'] === 'failed' ? 'degraded' : 'active',
      activeRevisionId: (await bed.revision(deployment, 1)).id,
      candidateRevisionId: null,
      currentOperationId: null,
    });
    expect(await bed.activations(deployment)).toEqual(['1']);
    bed.neighbours.statuses.clear();
    bed.neighbours.issues = [];
    const next = await bed.rollout(deployment, { spec: spec('after'), strategy: IMMEDIATE });
    expect(await bed.finish(next)).toMatchObject({ status: 'succeeded' });
  });

  it('restores the whole route, even to dead revisions, and keeps nothing warm', async () => {
    const deployment = await bed.serving(2);
    const [one, two] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
    const affinity = { mode: 'none' as const, ttlSeconds: 5 };
    const found: [string, string, number][] = [
      [one.id, one.name, 40],
      [two.id, two.name, 60],
    ];
    await setRoute(deployment, found, affinity);
    await begin(deployment);
    const id = await bed.rollback(deployment, { reason: 'it is slow' });
    await isDown(deployment, 2);
    await bed.drive(id);
    await bed.cancel(id);
    await bed.finish(id);
    expect(bed.neighbours.routeChanges.at(-1)).toMatchObject({
      tenantId: TENANT,
      targets: found.map(([revisionId, revisionName, weight]) => ({ revisionId, revisionName, weight })),
      affinity,
      isRestore: true,
      keepPreviousSeconds: 0,
      operationId: id,
      reason: 'it is slow',
    });
  });

  it('leaves no route if there was none before the rollout', async () => {
    const deployment = await bed.serving();
    bed.neighbours.routes.delete(deployment.id);
    await begin(deployment);
    const id = await bed.rollback(deployment);
    await bed.cancel(id);
    expect(stepOf(await bed.finish(id), 'revert_traffic').message).toContain('because the deployment had none before');
    expect(bed.targets(deployment)).toBeUndefined();
  });

  it('leaves the traffic on a revision that the rollout had promoted', async () => {
    const deployment = await bed.serving(2);
    const rollout = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: { ...IMMEDIATE, bake: { seconds: 60, metrics: [] } },
    });
    await bed.whileBroken('rollout', 'begin_bake', async () =>
      expect(await bed.drive(rollout)).toMatchObject({ current_step: 'begin_bake' }),
    );
    const { operation } = await bed.askBack(deployment);
    expect(operation.result).toMatchObject({ revision: name(deployment, 2), because: 'active_when_rollout_began' });
    await bed.cancel(operation.id);
    expect(await bed.finish(operation.id)).toMatchObject({ status: 'cancelled' });
    expect(bed.targets(deployment)).toEqual([[name(deployment, 3), 100]]);
    expect(deployment).toMatchObject({ state: 'active', activeRevisionId: (await bed.revision(deployment, 3)).id });
  });

  it('keeps the route that a person set during a rollout that moves no traffic', async () => {
    const deployment = await bed.serving(2);
    await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'candidate' } });
    const [one, two] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
    await setRoute(deployment, [
      [one.id, one.name, 10],
      [two.id, two.name, 90],
    ]);
    const id = await bed.rollback(deployment);
    await bed.cancel(id);
    await bed.finish(id);
    expect(bed.targets(deployment)).toEqual([
      [one.name, 10],
      [two.name, 90],
    ]);
  });

  it('stays on its target once the traffic is there', async () => {
    const { deployment } = await atAQuarter(2);
    const target = await bed.revision(deployment, 1);
    const id = await bed.rollback(deployment, { to_revision: '1' });
    bed.neighbours.silent.add(target.id);
    await bed.drive(id);
    await bed.age(id, 11);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'failed', error_code: 'health_regression' });
    expect(record['result']).not.toHaveProperty('outcome');
    expect(stepOf(record, 'revert_traffic')).toMatchObject({ status: 'skipped' });
    expect(bed.targets(deployment)).toEqual([[target.name, 100]]);
    expect(deployment).toMatchObject({ state: 'degraded', activeRevisionId: target.id });
  });

  it('retains its target again when it is retried, and restores the route of that moment if it fails', async () => {
    const { deployment } = await atAQuarter(2);
    const target = await bed.revision(deployment, 1);
    const id = await bed.rollback(deployment, { to_revision: '1' });
    await isDown(deployment, 1);
    const fail = async () => {
      await bed.drive(id);
      await bed.age(id, 601);
      expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
    };
    await fail();
    const two = await bed.revision(deployment, 2);
    await setRoute(deployment, [
      [target.id, target.name, 1],
      [two.id, two.name, 99],
    ]);
    await bed.retry(id);
    await bed.drive(id);
    expect([...bed.neighbours.heldBy(target.id).keys()]).toContain(`operation:${id}`);
    await fail();
    expect(bed.targets(deployment)).toEqual([
      [target.name, 1],
      [two.name, 99],
    ]);
    bed.neighbours.statuses.clear();
    await bed.retry(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'rolled_back' } });
    expect(bed.targets(deployment)).toEqual([[target.name, 100]]);
  });

  it('restores the state of a deployment that never had an active revision', async () => {
    const deployment = bed.deployment();
    await bed.finish(await bed.rollout(deployment, { spec: spec('m-1') }));
    await bed.rollout(deployment, { spec: spec('m-2'), strategy: IMMEDIATE });
    const id = await bed.rollback(deployment, { to_revision: '1' });
    await bed.cancel(id);
    await bed.finish(id);
    expect(deployment).toMatchObject({ state: 'creating', currentOperationId: null });
  });
});

describe('the target of a rollback during a rollout', () => {
  it('is the revision that was active when the rollout began, and is reported as such', async () => {
    const { deployment } = await atAQuarter(2);
    const { operation } = await bed.askBack(deployment);
    expect(operation.result).toMatchObject({ revision: name(deployment, 2), because: 'active_when_rollout_began' });
    const record = await bed.finish(operation.id);
    expect(record).toMatchObject({ status: 'succeeded' });
    expect(stepOf(record, 'resolve_target').message).toBe(
      `The rollback target is ${name(deployment, 2)}, the revision that was active when the rollout began.`,
    );
    expect(bed.targets(deployment)).toEqual([[name(deployment, 2), 100]]);
  });

  it('is the last good revision before the formerly active one if that has no ready instance, and is reported everywhere', async () => {
    const { deployment, candidate } = await atAQuarter(2);
    await isDown(deployment, 2);
    const why = `The rollback target is ${name(deployment, 1)}, the last good revision before the one that was active when the rollout began, because that one has no ready instance.`;
    const { operation } = await bed.askBack(deployment);
    expect(operation.result).toMatchObject({ revision: name(deployment, 1), because: 'last_good_before' });
    const record = await bed.finish(operation.id);
    expect(record).toMatchObject({ status: 'succeeded' });
    expect(stepOf(record, 'resolve_target').message).toBe(why);
    expect(await bed.events(deployment, 'rollback.started')).toMatchObject([{ because: 'last_good_before' }]);
    expect(bed.targets(deployment)).toEqual([[name(deployment, 1), 100]]);
    expect(await bed.activations(deployment)).toEqual(['1', '2 left', '1']);
    expect([...bed.neighbours.heldBy((await bed.revision(deployment, candidate)).id)]).toEqual([]);
  });

  it('is the same in a rehearsal, which reports the reason and ends nothing', async () => {
    const { deployment, rollout } = await atAQuarter(2);
    await isDown(deployment, 2);
    expect(await bed.rehearseBack(deployment)).toMatchObject({
      would: expect.stringMatching(`^roll back to ${name(deployment, 1)}, .* has no ready instance$`),
    });
    expect((await bed.record(rollout))['status']).toBe('waiting');
  });

  it('is never the candidate of the rollout, even if that was good before', async () => {
    const { deployment, candidate } = await atAQuarter(3, 'm-2');
    expect(candidate).toBe(name(deployment, 2));
    await isDown(deployment, 3);
    expect((await bed.askBack(deployment)).operation.result).toMatchObject({ revision: name(deployment, 1) });
  });

  it('is the formerly active revision if that stopped only after its traffic had left', async () => {
    const deployment = await bed.serving(2);
    const strategy = { type: 'canary' as const, steps: [{ ...asksAt(100)[0]! }] };
    await bed.finish(await bed.rollout(deployment, { spec: spec('next'), strategy, keep_previous_seconds: 0 }));
    bed.neighbours.statuses.set((await bed.revision(deployment, 2)).id, { desired: 0, ready: 0 });
    expect((await bed.askBack(deployment)).operation.result).toMatchObject({
      revision: name(deployment, 2),
      because: 'active_when_rollout_began',
    });
  });

  it('is the formerly active revision if that sleeps and a request has just woken it', async () => {
    const { deployment } = await atAQuarter(2);
    bed.neighbours.statuses.set((await bed.revision(deployment, 2)).id, { desired: 1, ready: 0, isAsleep: true });
    expect((await bed.askBack(deployment)).operation.result).toMatchObject({ because: 'active_when_rollout_began' });
  });

  it('is the formerly active revision, even dead, if there was no good one before it', async () => {
    const { deployment } = await atAQuarter();
    await isDown(deployment, 1);
    expect((await bed.askBack(deployment)).operation.result).toMatchObject({
      revision: name(deployment, 1),
      because: 'active_when_rollout_began',
    });
  });

  it('is the revision in the request, even if the active revision is dead', async () => {
    const { deployment } = await atAQuarter(3);
    await isDown(deployment, 3);
    expect((await bed.askBack(deployment, { to_revision: '1' })).operation.result).toMatchObject({
      revision: name(deployment, 1),
      because: 'named',
    });
    const quiet = await bed.serving(2);
    expect((await bed.askBack(quiet)).operation.result).toMatchObject({
      revision: name(quiet, 1),
      because: 'previous',
    });
  });
});

describe('the revision of a rollout that ended before it was provisioned', () => {
  it('is retired with a cancelled rollout, and returns with the next rollout of its spec', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    await bed.cancel(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'cancelled' });
    expect(await bed.states(deployment)).toEqual(['active', 'retired']);
    expect(await bed.events(deployment, 'revision.retired')).toHaveLength(1);
    const again = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    expect(await bed.finish(again)).toMatchObject({ status: 'succeeded', result: { reused: true } });
    expect(await bed.states(deployment)).toEqual(['standby', 'active']);
  });

  it('is retired with a rollout that fails its checks, and returns with its retry', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    await bed.whileBroken('rollout', 'validate', () => bed.finish(id));
    expect(await bed.states(deployment)).toEqual(['active', 'retired']);
    await bed.retry(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.states(deployment)).toEqual(['standby', 'active']);
  });

  it('is retired with a rollout that a rollback ends', async () => {
    const deployment = await bed.serving(2);
    await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    await bed.rollback(deployment);
    expect(await bed.states(deployment)).toEqual(['standby', 'active', 'retired']);
    expect(await bed.events(deployment, 'revision.retired')).toHaveLength(1);
  });

  it('stays in standby if it served before', async () => {
    const deployment = await bed.serving(2);
    const id = await bed.rollout(deployment, { spec: spec('m-1'), strategy: IMMEDIATE });
    await bed.cancel(id);
    await bed.finish(id);
    expect(await bed.states(deployment)).toEqual(['standby', 'active']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canary, IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const key = (text: string) => ({ method: 'POST', path: '/rollback', key: text, fingerprint: 'same' });
/** A deployment whose revision 1 has all traffic, with a rollout of the next one that waits for its candidate. */
const beingRolledOut = async (revisions = 1) => {
  const deployment = await bed.serving(revisions);
  const rollout = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
  const candidate = await bed.revision(deployment, revisions + 1);
  bed.neighbours.statuses.set(candidate.id, { ready: 0 });
  expect(await bed.drive(rollout)).toMatchObject({ status: 'running', current_step: 'await_ready' });
  return { deployment, rollout, candidate };
};

describe('the target of a rollback', () => {
  it('is the previously active revision, and by default never one that a rollback has left', async () => {
    const deployment = await bed.serving(3);
    expect(await bed.finish(await bed.rollback(deployment))).toMatchObject({
      status: 'succeeded',
      result: { revision: `${deployment.name}-00002`, outcome: 'rolled_back' },
    });
    expect(await bed.activations(deployment)).toEqual(['1', '2', '3 left', '2']);
    expect(deployment).toMatchObject({
      state: 'active',
      currentOperationId: null,
      activeRevisionId: (await bed.revision(deployment, 2)).id,
      previousRevisionId: (await bed.revision(deployment, 1)).id,
    });
    // Not revision 3, although it is the previous one in the log.
    expect(await bed.finish(await bed.rollback(deployment))).toMatchObject({
      result: { revision: `${deployment.name}-00001` },
    });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00001`, 100]]);
    await expect(bed.rollback(deployment)).rejects.toMatchObject({ code: 'no_previous_revision' });
    // A request may choose it again by name.
    expect(await bed.finish(await bed.rollback(deployment, { to_revision: '3' }))).toMatchObject({
      status: 'succeeded',
    });
    expect(await bed.states(deployment)).toEqual(['standby', 'standby', 'active']);
  });

  it('is a revision that a later rollout made good again, although a rollback left it once', async () => {
    const deployment = await bed.serving(2);
    await bed.finish(await bed.rollback(deployment));
    await bed.finish(await bed.rollout(deployment, { spec: spec('m-2'), strategy: IMMEDIATE }));
    await bed.finish(await bed.rollout(deployment, { spec: spec('m-3'), strategy: IMMEDIATE }));
    expect((await bed.askBack(deployment)).operation.result).toMatchObject({ revision: `${deployment.name}-00002` });
  });

  it('skips a revision that has failed since, and is refused if no other exists', async () => {
    const deployment = await bed.serving(3);
    await bed.sql(`update revisions set state = 'failed' where deployment_id = $1 and number = 2`, [deployment.id]);
    expect((await bed.askBack(deployment)).operation.result).toMatchObject({ revision: `${deployment.name}-00001` });
    await expect(bed.rollback(await bed.serving())).rejects.toMatchObject({ code: 'no_previous_revision' });
    await expect(bed.rollback(bed.deployment())).rejects.toMatchObject({ code: 'no_previous_revision' });
  });

  it.each([
    ['the active one', '2', 'revision_already_active'],
    ['no revision of this deployment', '9', 'revision_not_found'],
  ])('is refused if it is %s', async (_what, to_revision, code) => {
    const deployment = await bed.serving(2);
    await expect(bed.rollback(deployment, { to_revision })).rejects.toMatchObject({ code });
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
  });

  it('is refused if it has failed, or if no target can run it any more', async () => {
    const deployment = await bed.serving(2);
    bed.neighbours.issues = [{ field: 'runtime.engine', code: 'unknown', message: 'nobody knows it' }];
    try {
      await expect(bed.rollback(deployment)).rejects.toMatchObject({
        code: 'revision_not_restorable',
        message: expect.stringContaining('nobody knows it'),
      });
    } finally {
      bed.neighbours.issues = [];
    }
    await bed.sql(`update revisions set state = 'failed' where deployment_id = $1 and number = 1`, [deployment.id]);
    await expect(bed.rollback(deployment, { to_revision: '1' })).rejects.toMatchObject({
      code: 'revision_not_restorable',
    });
  });
});

describe('a rehearsed rollback', () => {
  it.each([0, 2])('shows its target, what changes in the spec, and that %i instances are ready', async (ready) => {
    const deployment = await bed.serving(2);
    const target = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(target.id, { ready });
    expect(await bed.rehearseBack(deployment)).toMatchObject({
      revision: `${deployment.name}-00001`,
      ready_instances: ready,
      diff: [{ path: '/model/id', op: 'replace', value: target.spec.model.id }],
    });
  });

  it('shows what it undoes of a rollout, if its target is still active', async () => {
    const { deployment } = await beingRolledOut();
    const { model } = (await bed.revision(deployment, 1)).spec;
    expect(await bed.rehearseBack(deployment)).toMatchObject({
      revision: `${deployment.name}-00001`,
      diff: [{ path: '/model/id', op: 'replace', value: model.id }],
    });
  });
});

describe('a rollback', () => {
  it('starts its target before it moves any traffic', async () => {
    const deployment = await bed.serving(2);
    const id = await bed.rollback(deployment, { reason: 'it is slow' });
    expect(bed.neighbours.owners.get(deployment.id)).toBe(id);
    expect(deployment).toMatchObject({ state: 'progressing', currentOperationId: id, candidateRevisionId: null });
    const target = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(target.id, { ready: 0 });
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'ensure_ready' });
    await bed.wake(id);
    expect(bed.neighbours.routeChanges).toEqual([]);
    expect([...bed.neighbours.heldBy(target.id).keys()]).toContain(`operation:${id}`);
    bed.neighbours.statuses.delete(target.id);
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
    expect(bed.neighbours.routeChanges).toMatchObject([
      {
        operationId: id,
        keepPreviousSeconds: 0,
        reason: 'it is slow',
        targets: [{ revisionId: target.id, weight: 100 }],
      },
    ]);
    expect([...bed.neighbours.heldBy(target.id).keys()]).not.toContain(`operation:${id}`);
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect(await bed.events(deployment, 'rollback.completed')).toMatchObject([{ outcome: 'succeeded' }]);
  });

  it('starts a retired revision again', async () => {
    const deployment = await bed.serving(2);
    await bed.sql(`update revisions set state = 'retired' where deployment_id = $1 and number = 1`, [deployment.id]);
    const id = await bed.rollback(deployment);
    bed.neighbours.statuses.set((await bed.revision(deployment, 1)).id, { ready: 0 });
    await bed.drive(id);
    expect(await bed.states(deployment)).toEqual(['provisioning', 'active']);
    bed.neighbours.statuses.clear();
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.states(deployment)).toEqual(['active', 'standby']);
  });

  it('probes its target for a while, and stays on it even if no answer comes', async () => {
    const deployment = await bed.serving(2);
    const target = await bed.revision(deployment, 1);
    const id = await bed.rollback(deployment);
    bed.neighbours.silent.add(target.id);
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'verify' });
    await bed.age(id, 4);
    expect(await bed.wake(id)).toMatchObject({ status: 'running', current_step: 'verify' });
    await bed.age(id, 7);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'health_regression' });
    // It never restores the revision it left.
    expect(bed.targets(deployment)).toEqual([[target.name, 100]]);
    expect(deployment).toMatchObject({ state: 'degraded', activeRevisionId: target.id, currentOperationId: null });
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect(await bed.events(deployment, 'rollback.completed')).toMatchObject([{ outcome: 'failed' }]);
    bed.neighbours.silent.delete(target.id);
    await bed.retry(id);
    expect(bed.neighbours.owners.get(deployment.id)).toBe(id);
    expect(deployment).toMatchObject({ state: 'progressing', currentOperationId: id });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
  });

  it('gives up on a target that does not become ready, and moves nothing', async () => {
    const deployment = await bed.serving(2);
    bed.neighbours.statuses.set((await bed.revision(deployment, 1)).id, { ready: 0 });
    const id = await bed.rollback(deployment);
    await bed.drive(id);
    await bed.age(id, 601);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00002`, 100]]);
    expect(await bed.activations(deployment)).toEqual(['1', '2']);
  });

  it('can be cancelled until the traffic has moved, but not after', async () => {
    const deployment = await bed.serving(2);
    const early = await bed.rollback(deployment);
    await bed.cancel(early);
    expect(await bed.finish(early)).toMatchObject({ status: 'cancelled' });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00002`, 100]]);
    const late = await bed.rollback(deployment);
    bed.neighbours.inFlight.set((await bed.revision(deployment, 2)).id, 1);
    await bed.drive(late);
    await expect(bed.cancel(late)).rejects.toMatchObject({ code: 'operation_not_cancellable' });
  });
});

describe('a rollback during a rollout', () => {
  it('ends the rollout at once and takes over its traffic, and the rollout can write nothing afterwards', async () => {
    const { deployment, rollout, candidate } = await beingRolledOut(2);
    const { operation } = await bed.askBack(deployment);
    // The target is the revision that was active when the rollout began, and that still is.
    expect(operation.result).toEqual({
      revision: `${deployment.name}-00002`,
      revision_id: deployment.activeRevisionId,
      because: 'active_when_rollout_began',
      superseded_operation_id: rollout,
    });
    expect(await bed.record(rollout)).toMatchObject({
      status: 'cancelled',
      error_code: 'superseded',
      superseded_by: operation.id,
    });
    expect(bed.neighbours.owners.get(deployment.id)).toBe(operation.id);
    expect([...bed.neighbours.heldBy(candidate.id)]).toEqual([]);
    expect(deployment).toMatchObject({ currentOperationId: operation.id, candidateRevisionId: null });
    bed.neighbours.statuses.delete(candidate.id);
    await bed.wake(rollout);
    expect(bed.neighbours.routeChanges).toEqual([]);
    expect(await bed.events(deployment, 'rollback.started')).toMatchObject([{ superseded_operation_id: rollout }]);

    expect(await bed.drive(operation.id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.activations(deployment)).toEqual(['1', '2']);
    expect(deployment).toMatchObject({ state: 'active', currentOperationId: null });
  });

  it('leaves the active revision if the request names an earlier one', async () => {
    const { deployment } = await beingRolledOut(2);
    const id = await bed.rollback(deployment, { to_revision: '1' });
    expect(await bed.drive(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.activations(deployment)).toEqual(['1', '2 left', '1']);
  });

  it('reverts a canary that has half the traffic', async () => {
    const deployment = await bed.serving();
    const steps = [{ ...canary(50).steps[0]!, requires_approval: true, pause: false }, ...canary(100).steps];
    const rollout = await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'canary', steps } });
    expect(await bed.finish(rollout)).toMatchObject({ status: 'waiting' });
    expect(await bed.finish(await bed.rollback(deployment))).toMatchObject({ status: 'succeeded' });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00001`, 100]]);
    await expect(bed.resume(rollout)).rejects.toMatchObject({ code: 'operation_not_paused' });
  });

  it('is refused with on_active_operation fail, and changes nothing', async () => {
    const { deployment, rollout } = await beingRolledOut();
    await expect(bed.rollback(deployment, { on_active_operation: 'fail' })).rejects.toMatchObject({
      code: 'operation_in_progress',
      extra: { operation_id: rollout },
    });
    expect((await bed.record(rollout))['status']).toBe('running');
    expect(bed.neighbours.owners.get(deployment.id)).toBe(rollout);
  });

  it('is refused if the deployment has no earlier revision', async () => {
    const deployment = bed.deployment();
    const rollout = await bed.rollout(deployment, { spec: spec('m'), strategy: IMMEDIATE });
    await expect(bed.rollback(deployment)).rejects.toMatchObject({ code: 'no_previous_revision' });
    expect((await bed.record(rollout))['status']).toBe('pending');
  });

  it('is refused during any other operation, including another rollback', async () => {
    const deployment = await bed.serving(3);
    const first = await bed.rollback(deployment);
    await expect(bed.rollback(deployment, { to_revision: '1' })).rejects.toMatchObject({
      code: 'operation_in_progress',
      extra: { operation_id: first },
    });
    expect((await bed.record(first))['status']).toBe('pending');
    await expect(bed.rollout(deployment, { spec: spec('next') })).rejects.toMatchObject({
      code: 'operation_in_progress',
    });
  });
});

it('a rollback that is repeated with its key is adopted and writes nothing more, not even an audit row', async () => {
  const { deployment, rollout } = await beingRolledOut();
  const first = await bed.askBack(deployment, {}, key(deployment.name));
  const written = async () =>
    (
      await bed.sql(
        `select (select count(*)::int from audit_log) as audits, (select count(*)::int from events) as events,
           (select sum(dispatch)::int from operations) as dispatches, (select superseded_by from operations where id = $1)`,
        [rollout],
      )
    )[0];
  const before = await written();
  for (let round = 0; round < 2; round += 1) {
    const again = await bed.askBack(deployment, {}, key(deployment.name));
    expect([again.created, again.operation.id]).toEqual([false, first.operation.id]);
  }
  expect(await written()).toEqual(before);
  expect(await bed.audits(deployment, 'rollback.create')).toBe(1);
  // Also if it has ended and another rollout is running, which it must not end.
  await bed.finish(first.operation.id);
  const next = await bed.rollout(deployment, { spec: spec('later'), strategy: IMMEDIATE });
  expect((await bed.askBack(deployment, {}, key(deployment.name))).operation).toMatchObject({
    id: first.operation.id,
    status: 'succeeded',
  });
  expect((await bed.record(next))['status']).toBe('pending');
  expect(await bed.audits(deployment, 'rollback.create')).toBe(1);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const stepOf = (record: any, name: string) => record.steps.find((step: any) => step.name === name);

describe('the unwind', () => {
  /** A canary that waits for a person after its first step. */
  const halfway = async (standing: Awaited<ReturnType<RolloutsBed['serving']>>) => {
    const steps = [
      { traffic_percent: 20, soak_seconds: 0, requires_approval: true, pause: false },
      { traffic_percent: 100, soak_seconds: 0, requires_approval: false, pause: false },
    ];
    const id = await bed.rollout(standing, { spec: spec('next'), strategy: { type: 'canary', steps } });
    expect(await bed.finish(id)).toMatchObject({ status: 'waiting', current_step: 'await_promotion:1' });
    return id;
  };

  it('restores exactly the earlier route, ready or not, and keeps nothing of the candidate', async () => {
    const deployment = await bed.serving(2);
    const [one, two] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
    const found = {
      deploymentId: deployment.id,
      generation: 7,
      affinity: { mode: 'none' as const, ttlSeconds: 31 },
      targets: [
        { revisionId: one.id, revisionName: one.name, weight: 10 },
        { revisionId: two.id, revisionName: two.name, weight: 90 },
      ],
    };
    bed.neighbours.routes.set(deployment.id, found);
    const id = await halfway(deployment);
    expect(bed.targets(deployment)).toEqual([
      [two.name, 80],
      [`${deployment.name}-00003`, 20],
    ]);
    const candidate = await bed.revision(deployment, 3);
    // As if it had been ready before and kept warm.
    bed.neighbours.heldBy(candidate.id).set('warm', 900);
    await bed.cancel(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'cancelled', result: { outcome: 'reverted' } });
    expect(bed.neighbours.routeChanges.at(-1)).toMatchObject({
      targets: found.targets,
      affinity: found.affinity,
      isRestore: true,
      keepPreviousSeconds: 0,
      operationId: id,
    });
    expect([...bed.neighbours.heldBy(candidate.id)]).toEqual([]);
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect(deployment).toMatchObject({ state: 'active', activeRevisionId: two.id, currentOperationId: null });
    // A cancel does not mark the candidate as failed, so it may be rolled out again.
    expect(await bed.states(deployment)).toEqual(['standby', 'active', 'ready']);
    expect(await bed.activations(deployment)).toEqual(['1', '2']);
  });

  it('leaves no route if there was none before', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m'), strategy: IMMEDIATE });
    await bed.whileBroken('rollout', 'promote', async () =>
      expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'attempts_exhausted' }),
    );
    expect(bed.neighbours.routeChanges.at(-1)).toBeNull();
    expect(bed.neighbours.routes.has(deployment.id)).toBe(false);
    expect(deployment).toMatchObject({ state: 'failed', activeRevisionId: null });
  });

  it('makes the earlier revision active again if the candidate was already promoted', async () => {
    const deployment = await bed.serving();
    const stable = await bed.revision(deployment, 1);
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: { ...IMMEDIATE, bake: { seconds: 60, metrics: [] } },
    });
    await bed.whileBroken('rollout', 'begin_bake', async () =>
      expect(await bed.finish(id)).toMatchObject({ status: 'failed' }),
    );
    expect(await bed.activations(deployment)).toEqual(['1', '2', '1']);
    expect(deployment.activeRevisionId).toBe(stable.id);
    expect(bed.targets(deployment)).toEqual([[stable.name, 100]]);
    // It has served, so it is not a failed revision, and a rollback may name it.
    expect(await bed.states(deployment)).toEqual(['active', 'standby']);
    // A retry promotes it once more.
    await bed.retry(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.activations(deployment)).toEqual(['1', '2', '1', '2']);
  });

  it('waits until the processes of a failed candidate are gone', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.statuses.set(candidate.id, { desired: 1, ready: 0 });
    await bed.drive(id);
    await bed.age(id, 601);
    // Its deadline has passed. The unwind starts, and first stops retaining the candidate.
    await bed.wake(id);
    expect([...bed.neighbours.heldBy(candidate.id)]).toEqual([]);
    bed.neighbours.statuses.set(candidate.id, { alive: 1, desired: 0, ready: 0 });
    expect(await bed.wake(id)).toMatchObject({ status: 'running' });
    bed.neighbours.statuses.set(candidate.id, { alive: 0, desired: 0, ready: 0 });
    expect(await bed.wake(id)).toMatchObject({ status: 'failed' });
  });

  it.each([
    ['forever for processes of a candidate', { alive: 1, desired: 0 }],
    ['for a candidate that something else retains', { alive: 1, desired: 1 }],
  ])('does not wait %s', async (_what, standing) => {
    const deployment = await bed.serving();
    const id = await halfway(deployment);
    bed.neighbours.statuses.set((await bed.revision(deployment, 2)).id, standing);
    await bed.cancel(id);
    expect(await bed.drive(id)).toMatchObject({ status: 'cancelling' });
    // A cancel waits only for a second.
    if (standing.desired === 0) await bed.age(id, 2);
    expect(await bed.wake(id)).toMatchObject({ status: 'cancelled' });
  });

  it('cannot be requested by a cancel once the promotion is written', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: { ...IMMEDIATE, bake: { seconds: 60, metrics: [] } },
    });
    await bed.whileBroken('rollout', 'begin_bake', async () =>
      expect(await bed.drive(id)).toMatchObject({ current_step: 'begin_bake' }),
    );
    await expect(bed.cancel(id)).rejects.toMatchObject({ code: 'operation_not_cancellable' });
  });

  it('does not change a deployment that another operation owns by now', async () => {
    const deployment = await bed.serving();
    const id = await halfway(deployment);
    deployment.currentOperationId = 'op_other';
    deployment.state = 'deleting';
    await bed.cancel(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'cancelled' });
    expect(deployment).toMatchObject({ currentOperationId: 'op_other', state: 'deleting' });
  });
});

describe('the state that a server reports', () => {
  it('ends the rollout at validate if it lists other models, and is read again by a retry', async () => {
    const deployment = bed.deployment();
    const message = 'the server has no model of this name; it has: tiny';
    bed.neighbours.examined = { issues: [{ field: 'model.id', code: 'unknown', message }] };
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'validation_failed',
      message: `model.id: ${message}`,
      retryable: true,
    });
    expect(stepOf(record, 'validate')).toMatchObject({ status: 'failed', evidence: [{ field: 'model.id', message }] });
    expect(deployment).toMatchObject({ state: 'failed', currentOperationId: null });
    bed.neighbours.examined = { issues: [], message: 'the server has m' };
    await bed.retry(id);
    const again = await bed.finish(id);
    expect([again['status'], stepOf(again, 'validate').message]).toEqual(['succeeded', 'the server has m']);
    bed.neighbours.examined = { issues: [] };
  });

  it('is in the message while the rollout waits, and with its cause in the failure at the deadline', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const message = 'http://h/health: the connection was refused: nothing listens there';
    const { id: revisionId } = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(revisionId, { ready: 0, message, reason: 'probe_failed' });
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'await_ready', message });
    await bed.age(id, 601);
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      message: `probe_failed: ${message}`,
    });
    expect(stepOf(record, 'await_ready')).toMatchObject({
      message: '0 of 1 instances were ready after 600 s',
      evidence: { ready: 0, desired: 1, restarts: 0, cause: 'probe_failed' },
    });
  });

  it('ends the rollout at once if waiting cannot help', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const message = 'http://h/health returned 404: set endpoint.health_path to a path that returns 200';
    const { id: revisionId } = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(revisionId, { ready: 0, message, reason: 'health_path_missing' });
    await bed.drive(id);
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      message: `health_path_missing: ${message}`,
      retryable: true,
    });
    expect(stepOf(record, 'await_ready')).toMatchObject({
      message: '0 of 1 instances are ready, and waiting does not help.',
      evidence: { cause: 'health_path_missing' },
    });
    expect(deployment.state).toBe('failed');
  });
});

describe('a start that fails', () => {
  const failure = {
    cause: 'exited' as const,
    remediation: 'Fix it.',
    exit_code: 7,
    signal: null,
    line: 'the model is broken',
    log_tail: ['loading', 'the model is broken'],
    message: 'it ended with code 7',
  };

  it('ends the rollout after three equal failures, with the cause, its last lines and a remedy', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const { id: revisionId } = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(revisionId, { ready: 0, restarts: 2, failure, failedStarts: 2, startingSeconds: 1.5 });
    expect(await bed.drive(id)).toMatchObject({
      current_step: 'await_ready',
      message: '0 of 1 instances are ready: starting for 1 s; the previous start failed: exited, it ended with code 7.',
    });
    bed.neighbours.statuses.set(revisionId, { ready: 0, restarts: 3, failure, failedStarts: 3 });
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      message: 'exited: it ended with code 7: the model is broken. Fix it.',
    });
    expect(stepOf(record, 'await_ready').message).toBe(
      '0 of 1 instances are ready, and 3 consecutive starts failed in the same way.',
    );
    expect(stepOf(record, 'await_ready').evidence).toEqual({
      ready: 0,
      desired: 1,
      restarts: 3,
      cause: 'exited',
      exit_code: 7,
      log_tail: failure.log_tail,
    });
  });

  it('ends the rollout at the first failure if another start cannot help', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const { id: revisionId } = await bed.revision(deployment, 1);
    const missing = { ...failure, cause: 'program_not_found' as const, exit_code: 127 };
    bed.neighbours.statuses.set(revisionId, { ready: 0, failure: missing, failedStarts: 1 });
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  });

  it('shows its progress while the rollout waits', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const { id: revisionId } = await bed.revision(deployment, 1);
    const progress = { phase: 'downloading' as const, bytes: 1.2e9, total_bytes: 4.1e9 };
    bed.neighbours.statuses.set(revisionId, { ready: 0, progress, startingSeconds: 42.7 });
    expect(await bed.drive(id)).toMatchObject({
      message: '0 of 1 instances are ready: downloading 1.2 of 4.1 GB for 42 s.',
    });
    bed.neighbours.statuses.set(revisionId, {});
    await bed.finish(id);
  });

  it('may take as long as the template of its engine allows, unless the request sets a deadline', async () => {
    bed.neighbours.readyTimeoutSeconds = 1_800;
    const deadlineOf = async (body: object) => {
      const deployment = bed.deployment();
      const id = await bed.rollout(deployment, { spec: spec('m'), ...body });
      bed.neighbours.statuses.set((await bed.revision(deployment, 1)).id, { ready: 0 });
      await bed.drive(id);
      await bed.age(id, 10_000);
      return (await bed.finish(id))['message'];
    };
    expect(await deadlineOf({})).toBe('0 of 1 instances were ready after 1830 s');
    expect(await deadlineOf({ progress_deadline_seconds: 60 })).toBe('0 of 1 instances were ready after 60 s');
    bed.neighbours.readyTimeoutSeconds = 30;
    expect(await deadlineOf({})).toBe('0 of 1 instances were ready after 600 s');
    bed.neighbours.readyTimeoutSeconds = undefined;
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canary, IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const stepOf = (record: any, name: string) => record.steps.find((step: any) => step.name === name);

describe('a successful rollout', () => {
  it('moves the traffic step by step between the stable revision and the candidate only', async () => {
    const deployment = await bed.serving();
    const { name } = deployment;
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: canary(5, 60, 100),
      keep_previous_seconds: 120,
      reason: 'why not',
    });
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'succeeded', progress: 100, result: { outcome: 'promoted' } });
    const moved = bed.neighbours.routeChanges.map((change) =>
      change?.targets.map((one) => [one.revisionName, one.weight]),
    );
    const [one, two] = [`${name}-00001`, `${name}-00002`];
    const split = (old: number, fresh: number) => [
      [one, old],
      [two, fresh],
    ];
    expect(moved).toEqual([split(95, 5), split(40, 60), [[two, 100]], [[two, 100]]]);
    for (const change of bed.neighbours.routeChanges)
      expect(change).toMatchObject({
        operationId: id,
        keepPreviousSeconds: 120,
        reason: 'why not',
        updatedBy: { type: 'token', id: 'tok_1' },
      });
    expect(bed.neighbours.routeChanges.some((change) => change?.isRestore)).toBe(false);
    expect(await bed.activations(deployment)).toEqual(['1', '2']);
    expect(await bed.states(deployment)).toEqual(['standby', 'active']);
    const candidate = await bed.revision(deployment, 2);
    expect(deployment).toMatchObject({
      state: 'active',
      activeRevisionId: candidate.id,
      previousRevisionId: (await bed.revision(deployment, 1)).id,
      candidateRevisionId: null,
      currentOperationId: null,
    });
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect([...bed.neighbours.heldBy(candidate.id)]).toEqual([]);
    expect(await bed.events(deployment, 'revision.ready')).toHaveLength(2);
  });

  it('of the active spec is a canary of the active revision, which keeps all traffic', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('m-1'), strategy: canary(5, 100) });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { reused: true, outcome: 'promoted' } });
    const moved = bed.neighbours.routeChanges.map((change) =>
      change?.targets.map((one) => [one.revisionName, one.weight]),
    );
    expect(moved).toEqual([1, 2, 3].map(() => [[`${deployment.name}-00001`, 100]]));
    expect(await bed.states(deployment)).toEqual(['active']);
  });

  it('of a candidate moves no traffic, does not own it, and keeps the candidate warm', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), keep_previous_seconds: 300 });
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'candidate_ready' } });
    const candidate = await bed.revision(deployment, 2);
    expect(bed.neighbours.routeChanges).toEqual([]);
    expect([...bed.neighbours.heldBy(candidate.id)]).toEqual([['warm', 300]]);
    expect(deployment).toMatchObject({ state: 'active', candidateRevisionId: candidate.id, currentOperationId: null });
    expect(await bed.states(deployment)).toEqual(['active', 'ready']);
    const first = bed.deployment();
    await bed.finish(await bed.rollout(first, { spec: spec('m') }));
    expect(first).toMatchObject({ state: 'creating', currentOperationId: null });
  });

  it('of a first revision gives it all traffic, even if the strategy starts with less', async () => {
    const first = bed.deployment();
    const steps = [5, 100].map((percent) => ({ traffic_percent: percent, soak_seconds: 0, requires_approval: false }));
    const strategy = { type: 'canary' as const, steps };
    const id = await bed.rollout(first, { spec: spec('m'), strategy });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    const [route] = bed.neighbours.routeChanges.slice(-1);
    expect(route?.targets.map((one) => [one.revisionName, one.weight])).toEqual([[`${first.name}-00001`, 100]]);
  });

  it('of a candidate reports how to send traffic to it, without a route and with one', async () => {
    const first = bed.deployment();
    expect(await bed.finish(await bed.rollout(first, { spec: spec('m') }))).toMatchObject({
      status: 'succeeded',
      message: `${first.name}-00001 is ready, but the deployment has no route. Set one with PUT /api/v1/deployments/${first.name}/route, or create a rollout with strategy immediate.`,
    });
    const routed = await bed.serving();
    expect(await bed.finish(await bed.rollout(routed, { spec: spec('next') }))).toMatchObject({
      message: `${routed.name}-00002 is ready. To send traffic to it, set the route with PUT /api/v1/deployments/${routed.name}/route.`,
    });
    const promoted = await bed.finish(await bed.rollout(routed, { spec: spec('next-2'), strategy: IMMEDIATE }));
    expect(promoted['message']).not.toContain('route');
  });

  it('waits until no request is in flight to revisions that lost their traffic', async () => {
    const deployment = await bed.serving();
    const [stable, id] = [
      await bed.revision(deployment, 1),
      await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE }),
    ];
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.inFlight.set(stable.id, 2);
    bed.neighbours.inFlight.set(candidate.id, 7);
    const draining = { status: 'running', current_step: 'drain_previous', message: '2 requests are in flight.' };
    expect(await bed.drive(id)).toMatchObject(draining);
    expect(await bed.wake(id)).toMatchObject(draining);
    // Requests in flight to the candidate do not matter.
    bed.neighbours.inFlight.set(stable.id, 0);
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
  });

  it('does not drain a candidate that was in the route before', async () => {
    const deployment = await bed.serving(2);
    const [one, two] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
    bed.neighbours.routes.get(deployment.id)!.targets = [
      { revisionId: one.id, revisionName: one.name, weight: 30 },
      { revisionId: two.id, revisionName: two.name, weight: 70 },
    ];
    bed.neighbours.inFlight.set(one.id, 7);
    const id = await bed.rollout(deployment, { spec: spec('m-1'), strategy: IMMEDIATE });
    expect(await bed.drive(id)).toMatchObject({ status: 'succeeded', result: { revision: one.name } });
  });

  it('stops waiting for requests in flight at a limit, and reports how many remain', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    bed.neighbours.inFlight.set((await bed.revision(deployment, 1)).id, 1);
    await bed.drive(id);
    await bed.age(id, 15);
    expect(await bed.wake(id)).toMatchObject({ status: 'running', current_step: 'drain_previous' });
    await bed.age(id, 16);
    const record = await bed.wake(id);
    expect(record).toMatchObject({ status: 'succeeded' });
    expect(stepOf(record, 'drain_previous').message).toBe('1 requests were still in flight after 30 s.');
  });

  it('waits for approval before a step that requires it, and continues when a person approves', async () => {
    const deployment = await bed.serving();
    const steps = [{ traffic_percent: 100, soak_seconds: 60, requires_approval: true }];
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'blue_green', steps } });
    expect(await bed.finish(id)).toMatchObject({ status: 'waiting', current_step: 'await_promotion:1' });
    expect(deployment.state).toBe('paused');
    expect(bed.neighbours.routeChanges).toEqual([]);
    expect(await bed.events(deployment, 'rollout.paused')).toMatchObject([{ reason: 'approval' }]);
    await bed.resume(id);
    expect(await bed.drive(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    // The pause is over, although the rollout waits again.
    expect(deployment.state).toBe('progressing');
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00002`, 100]]);
    await bed.age(id, 60);
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
    expect(deployment.state).toBe('active');
  });
});

describe('becoming ready', () => {
  it('waits for all instances, and moves no traffic before', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.statuses.set(candidate.id, { desired: 2, ready: 1, message: 'it loads' });
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'await_ready', message: 'it loads' });
    expect(await bed.states(deployment)).toEqual(['active', 'provisioning']);
    expect([...bed.neighbours.heldBy(candidate.id).keys()]).toEqual([`operation:${id}`]);
    await bed.wake(id);
    expect(bed.neighbours.routeChanges).toEqual([]);
    bed.neighbours.statuses.set(candidate.id, { desired: 2, ready: 2 });
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
  });

  it('fails at its deadline and not before, stops retaining the candidate and leaves the route unchanged', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: IMMEDIATE,
      progress_deadline_seconds: 100,
    });
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.statuses.set(candidate.id, { desired: 1, ready: 0, message: 'out of memory' });
    await bed.drive(id);
    await bed.age(id, 60);
    expect(await bed.wake(id)).toMatchObject({ status: 'running', current_step: 'await_ready' });
    await bed.age(id, 41);
    expect(await bed.finish(id)).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      retryable: true,
      message: expect.stringContaining('out of memory'),
      result: { outcome: 'reverted' },
    });
    expect(bed.neighbours.routeChanges).toEqual([]);
    expect([...bed.neighbours.heldBy(candidate.id)]).toEqual([]);
    expect(bed.neighbours.owners.has(deployment.id)).toBe(false);
    expect(deployment).toMatchObject({ state: 'active', candidateRevisionId: null, currentOperationId: null });
    expect(await bed.states(deployment)).toEqual(['active', 'failed']);
    expect(await bed.events(deployment, 'revision.failed')).toMatchObject([{ error_code: 'target_not_ready' }]);
    expect(await bed.events(deployment, 'rollout.reverted')).toMatchObject([
      { outcome: 'failed', error_code: 'target_not_ready' },
    ]);
  });

  it.each([
    ['unschedulable', '0/3 nodes are available: 3 Insufficient nvidia.com/gpu', 'capacity_exhausted'],
    ['target_unavailable', 'it waits for its target', 'dependency_outage'],
  ] as const)('fails at its deadline with the reason why it did not run: %s', async (reason, message, error_code) => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m'), progress_deadline_seconds: 100 });
    const { id: revisionId } = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(revisionId, { ready: 0, message, reason, startingSeconds: 90 });
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'await_ready', message });
    await bed.age(id, 101);
    expect(await bed.finish(id)).toMatchObject({
      status: 'failed',
      error_code,
      retryable: true,
      message: expect.stringContaining(message),
    });
  });

  it('fails before its deadline if the cause has not been fixed for a minute', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m') });
    const { id: revisionId } = await bed.revision(deployment, 1);
    const status = { ready: 0, message: 'pull access denied', reason: 'image_pull_failed' } as const;
    bed.neighbours.statuses.set(revisionId, { ...status, startingSeconds: 59 });
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'await_ready' });
    bed.neighbours.statuses.set(revisionId, { ...status, startingSeconds: 60 });
    expect(await bed.finish(id)).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      message: expect.stringContaining('image_pull_failed: pull access denied'),
    });
  });

  it('fails a first revision too, and sets the state of its deployment to failed', async () => {
    const deployment = bed.deployment();
    const id = await bed.rollout(deployment, { spec: spec('m'), strategy: IMMEDIATE });
    bed.neighbours.statuses.set((await bed.revision(deployment, 1)).id, { ready: 0 });
    await bed.drive(id);
    await bed.age(id, 601);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed' });
    expect(deployment).toMatchObject({ state: 'failed', activeRevisionId: null });
  });

  it('checks again if its worker reads the targets file later than the api that accepted the rollout', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next') });
    bed.neighbours.issues = [{ field: 'runtime.engine', code: 'unknown', message: 'nobody knows it yet' }];
    setTimeout(() => (bed.neighbours.issues = []), 100);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
  });

  it('fails and is not retryable if the targets have changed since the rollout was accepted', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next') });
    bed.neighbours.issues = [{ field: 'runtime.engine', code: 'unknown', message: 'nobody knows it' }];
    try {
      expect(await bed.finish(id)).toMatchObject({
        status: 'failed',
        error_code: 'validation_failed',
        retryable: false,
      });
    } finally {
      bed.neighbours.issues = [];
    }
  });
});

describe('soaking', () => {
  const soaking = async () => {
    const deployment = await bed.serving();
    const steps = [{ traffic_percent: 100, soak_seconds: 60, requires_approval: false }];
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'canary', steps } });
    const candidate = await bed.revision(deployment, 2);
    return { deployment, id, candidate };
  };

  it('sleeps until its end, no longer and no shorter', async () => {
    const { id } = await soaking();
    expect(await bed.drive(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    const [{ asleep }] = await bed.sql(
      `select extract(epoch from o.wake_at - s.started_at)::float8 as asleep
       from operations o join operation_steps s on s.operation_id = o.id and s.name = o.current_step where o.id = $1`,
      [id],
    );
    expect(Math.round(asleep)).toBeGreaterThanOrEqual(60);
    expect(asleep).toBeLessThan(90);
    // If it wakes early, it checks and sleeps again.
    expect(await bed.wake(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    await bed.age(id, 60);
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
  });

  it('ends at once if the candidate crashed, and restores the route', async () => {
    const { deployment, id, candidate } = await soaking();
    await bed.drive(id);
    bed.neighbours.statuses.set(candidate.id, { restarts: 1, message: 'killed' });
    expect(await bed.finish(id)).toMatchObject({
      status: 'failed',
      error_code: 'health_regression',
      message: expect.stringContaining('killed'),
    });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00001`, 100]]);
  });

  it('ignores crashes from before the candidate was ready', async () => {
    const { id, candidate } = await soaking();
    bed.neighbours.statuses.set(candidate.id, { restarts: 2 });
    expect(await bed.drive(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    bed.neighbours.statuses.set(candidate.id, { restarts: 3 });
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'health_regression' });
  });

  it('tolerates short silences, each from zero, and fails on a long one', async () => {
    const { id, candidate } = await soaking();
    const look = () => bed.wake(id);
    const soaks = { status: 'waiting', current_step: 'soak:1' };
    const silentFor = (seconds: number) =>
      bed.sql(
        `update operation_steps set state = jsonb_set(state, '{silentSince}', to_jsonb((state->>'silentSince')::numeric - $2))
         where operation_id = $1 and status in ('running', 'waiting')`,
        [id, seconds * 1_000],
      );
    expect(await bed.drive(id)).toMatchObject(soaks);
    for (let silence = 1; silence <= 2; silence += 1) {
      bed.neighbours.statuses.set(candidate.id, { ready: 0 });
      expect(await look()).toMatchObject(soaks);
      await silentFor(8);
      expect(await look()).toMatchObject(soaks);
      bed.neighbours.statuses.delete(candidate.id);
      expect(await look()).toMatchObject(soaks);
    }
    // A soak does not pass during a silence, even if its time is over.
    bed.neighbours.statuses.set(candidate.id, { ready: 0 });
    await bed.age(id, 60);
    expect(await look()).toMatchObject(soaks);
    await silentFor(16);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'health_regression' });
  });
});

describe('the unwind', () => {
  /** A canary that waits for a person after its first step. */
  const halfway = async (standing: Awaited<ReturnType<RolloutsBed['serving']>>) => {
    const steps = [
      { traffic_percent: 20, soak_seconds: 0, requires_approval: true },
      { traffic_percent: 100, soak_seconds: 0, requires_approval: false },
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
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    await bed.whileBroken('rollout', 'drain_previous', async () =>
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
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    bed.neighbours.inFlight.set((await bed.revision(deployment, 1)).id, 1);
    expect(await bed.drive(id)).toMatchObject({ current_step: 'drain_previous' });
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
      message: `0 of 1 instances were ready after 600 s: ${message}`,
    });
    expect(stepOf(record, 'await_ready').evidence).toEqual({
      ready: 0,
      desired: 1,
      restarts: 0,
      cause: 'probe_failed',
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
      message: `0 of 1 instances are ready, and waiting does not help: ${message}`,
      retryable: true,
    });
    expect(stepOf(record, 'await_ready').evidence).toMatchObject({ cause: 'health_path_missing' });
    expect(deployment.state).toBe('failed');
  });
});

describe('a start that fails', () => {
  const failure = {
    cause: 'exited' as const,
    remediation: 'Mend it.',
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
      message:
        '0 of 1 instances are ready, and 3 consecutive starts failed in the same way: exited: it ended with code 7: the model is broken. Last log lines: loading. Mend it.',
    });
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

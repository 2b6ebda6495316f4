import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canary, IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

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
    const steps = [5, 100].map((percent) => ({
      traffic_percent: percent,
      soak_seconds: 0,
      requires_approval: false,
      pause: false,
    }));
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

  it('waits for approval before a step that requires it, and continues when a person approves', async () => {
    const deployment = await bed.serving();
    const steps = [{ traffic_percent: 100, soak_seconds: 60, requires_approval: true, pause: false }];
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
    const waits = reason === 'unschedulable' ? { status: 'waiting', waiting_for: 'capacity' } : { status: 'running' };
    expect(await bed.drive(id)).toMatchObject({ ...waits, current_step: 'await_ready', message });
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
    const steps = [{ traffic_percent: 100, soak_seconds: 60, requires_approval: false, pause: false }];
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'canary', steps } });
    const candidate = await bed.revision(deployment, 2);
    return { deployment, id, candidate };
  };

  it('looks every two seconds, and lasts until its end', async () => {
    const { id } = await soaking();
    expect(await bed.drive(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    const [{ asleep }] = await bed.sql(
      `select extract(epoch from o.wake_at - s.started_at)::float8 as asleep
       from operations o join operation_steps s on s.operation_id = o.id and s.name = o.current_step where o.id = $1`,
      [id],
    );
    expect(asleep).toBeGreaterThanOrEqual(2);
    expect(asleep).toBeLessThan(30);
    // Before its end, it only checks and sleeps again.
    expect(await bed.wake(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    await bed.age(id, 60);
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded' });
  });

  it('ends at once if the candidate crashed, and restores the route', async () => {
    const { deployment, id, candidate } = await soaking();
    await bed.drive(id);
    // A failed start of an additional instance is no crash.
    bed.neighbours.statuses.set(candidate.id, { restarts: 5, crashes: 0 });
    expect(await bed.drive(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    bed.neighbours.statuses.set(candidate.id, { restarts: 6, crashes: 1, message: 'killed' });
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

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { canary, IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

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

const SOAK = { traffic_percent: 100, soak_seconds: 60, requires_approval: false, pause: false };
const RECREATE = { type: 'recreate' as const, steps: [{ ...SOAK, soak_seconds: 0 }], hold_seconds: 90 };
const names = (record: any, isUnwind = false) =>
  record.steps.filter((step: any) => Boolean(step.is_unwind) === isUnwind).map((step: any) => step.name);
const stepOf = (record: any, name: string) => record.steps.find((step: any) => step.name === name);
/** The changes of the route: its targets, and for how long requests may wait. */
const changes = () =>
  bed.neighbours.routeChanges.map((change) => [
    change?.targets.map((one) => one.revisionName.slice(-1)).join(),
    change?.hold?.maxSeconds ?? null,
  ]);

describe('a recreate', () => {
  it('holds requests, stops the previous revision, starts the candidate and releases the requests to it', async () => {
    const deployment = await bed.serving();
    const stable = await bed.revision(deployment, 1);
    bed.neighbours.inFlight.set(stable.id, 2);
    bed.neighbours.statuses.set(stable.id, { alive: 1 });
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { ...RECREATE, steps: [SOAK] } });
    expect(await bed.begin(id)).toMatchObject({ current_step: 'hold_requests' });
    expect(changes()).toEqual([['1', 90]]);
    expect(bed.neighbours.routeChanges[0]?.hold).toEqual({ maxSeconds: 90, estimatedSeconds: 40 });
    expect([...bed.neighbours.suspended]).toEqual([]);
    await bed.wake(id);
    expect(await bed.wake(id)).toMatchObject({ current_step: 'stop_previous', message: '2 requests are in flight.' });
    expect([...bed.neighbours.suspended]).toEqual([[stable.id, id]]);
    const candidate = await bed.revision(deployment, 2);
    expect(bed.neighbours.holds.has(candidate.id)).toBe(false);
    bed.neighbours.inFlight.set(stable.id, 0);
    bed.neighbours.statuses.delete(stable.id);
    expect(await bed.wake(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    expect(changes()).toEqual([
      ['1', 90],
      ['2', null],
    ]);
    // The previous revision can still return until the candidate has passed its soak.
    expect([...bed.neighbours.heldBy(stable.id).keys()]).toEqual([`operation:${id}`]);
    await bed.age(id, 60);
    const record = await bed.wake(id);
    expect(record).toMatchObject({
      status: 'succeeded',
      result: {
        outcome: 'promoted',
        strategy: 'recreate',
        gap_seconds: 1.5,
        requests_cut: 0,
        estimated_gap_seconds: 40,
      },
    });
    expect(names(record)).toEqual([
      'validate',
      'preflight',
      'hold_requests',
      'stop_previous',
      'provision',
      'await_ready',
      'release_requests',
      'soak:1',
      'analyze:1',
      'promote',
    ]);
    expect(await bed.activations(deployment)).toEqual(['1', '2']);
    expect([...bed.neighbours.heldBy(stable.id).keys()]).toEqual([]);
    expect(deployment).toMatchObject({ state: 'active', activeRevisionId: candidate.id, currentOperationId: null });
  });

  it('counts the requests that were still in flight when it stopped waiting for them', async () => {
    const deployment = await bed.serving();
    const stable = await bed.revision(deployment, 1);
    bed.neighbours.inFlight.set(stable.id, 3);
    bed.neighbours.statuses.set(stable.id, { alive: 1 });
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: RECREATE });
    await bed.begin(id);
    await bed.wake(id);
    expect(await bed.wake(id)).toMatchObject({ current_step: 'stop_previous' });
    await bed.age(id, 291);
    bed.neighbours.inFlight.set(stable.id, 0);
    bed.neighbours.statuses.delete(stable.id);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'succeeded', result: { requests_cut: 3 } });
    expect(stepOf(record, 'stop_previous').evidence).toEqual({ requests_cut: 3 });
  });

  it('stops and holds nothing for a first revision', async () => {
    const deployment = bed.deployment();
    const record = await bed.finish(await bed.rollout(deployment, { spec: spec('m'), strategy: RECREATE }));
    expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    expect(names(record)).toEqual(['validate', 'provision', 'await_ready', 'shift_traffic:1', 'promote']);
  });

  it('stops nothing if the previous revision could not start again', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: RECREATE });
    const sound = bed.neighbours.instancesPort.check;
    const port = bed.neighbours.instancesPort as { check: any };
    port.check = (_tx: unknown, _tenant: string, one: any) =>
      one.model.id === 'm-1' ? [{ field: 'runtime.engine', code: 'unknown', message: 'it is gone' }] : [];
    const record = await bed.finish(id);
    port.check = sound;
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'validation_failed',
      message: `${deployment.name}-00001 could not start again: runtime.engine: it is gone`,
    });
    expect(changes()).toEqual([]);
    expect([...bed.neighbours.suspended.values()]).not.toContain(id);
  });

  it('stops nothing while the host prepares the candidate or if something is missing, and a retry prepares again', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: RECREATE });
    const candidate = await bed.revision(deployment, 2);
    const progress = { phase: 'downloading' as const, bytes: 1.2e9, total_bytes: 4.1e9 };
    bed.neighbours.preparations.set(candidate.id, { state: 'running', progress, failure: null });
    expect(await bed.begin(id)).toMatchObject({
      current_step: 'preflight',
      message: `Preparing ${candidate.name} before anything stops: downloading 1.2 of 4.1 GB.`,
    });
    const failure = {
      cause: 'model_missing' as const,
      line: '/models/next.gguf does not exist or is not readable',
      remediation: 'Check model.uri.',
      exit_code: null,
      signal: null,
      log_tail: [],
    };
    bed.neighbours.preparations.set(candidate.id, { state: 'failed', progress: null, failure });
    expect(await bed.finish(id)).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      message: `Nothing was stopped, because ${candidate.name} could not start: model_missing: ${failure.line}. Check model.uri.`,
    });
    expect(changes()).toEqual([]);
    expect([...bed.neighbours.suspended.values()]).not.toContain(id);
    bed.neighbours.asked.length = 0;
    bed.neighbours.preparations.clear();
    await bed.retry(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    expect(bed.neighbours.asked).toEqual(
      expect.arrayContaining([candidate.id, (await bed.revision(deployment, 1)).id]),
    );
  });

  it('waits for the capacity of other deployments before it stops anything, and fails at its deadline', async () => {
    const deployment = await bed.serving();
    bed.neighbours.capacity = { total: 2, others: 1 };
    const id = await bed.rollout(deployment, {
      spec: { ...spec('next'), scaling: { min_replicas: 2 } },
      strategy: RECREATE,
      progress_deadline_seconds: 100,
    });
    expect(await bed.drive(id)).toMatchObject({ status: 'running', current_step: 'preflight' });
    expect(changes()).toEqual([]);
    await bed.age(id, 101);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'capacity_exhausted' });
    expect([...bed.neighbours.suspended.values()]).not.toContain(id);
    expect(deployment.state).toBe('active');
  });
});

describe('the unwind of a recreate', () => {
  it('starts the previous revision again if the candidate never starts, and releases the requests to it', async () => {
    const deployment = await bed.serving();
    const [stable, id] = [
      await bed.revision(deployment, 1),
      await bed.rollout(deployment, { spec: spec('next'), strategy: RECREATE, progress_deadline_seconds: 100 }),
    ];
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.statuses.set(candidate.id, { ready: 0, message: 'out of memory' });
    await bed.begin(id);
    for (let look = 0; look < 4; look += 1) await bed.wake(id);
    expect((await bed.record(id))['current_step']).toBe('await_ready');
    await bed.age(id, 101);
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'target_not_ready',
      result: { outcome: 'reverted', gap_seconds: 1.5 },
    });
    expect(record['steps'].slice(10).map((step: any) => [step.name, step.status])).toEqual([
      ['remove_candidate', 'succeeded'],
      ['start_previous', 'succeeded'],
      ['release_to_previous', 'succeeded'],
    ]);
    expect(changes()).toEqual([
      ['1', 90],
      ['1', null],
    ]);
    expect(bed.neighbours.suspended.has(stable.id)).toBe(false);
    expect(deployment).toMatchObject({ state: 'active', activeRevisionId: stable.id });
    expect(await bed.states(deployment)).toEqual(['active', 'failed']);
  });

  it('causes a second gap of the same kind if the candidate has served', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { ...RECREATE, steps: [SOAK] } });
    for (let look = 0; look < 8; look += 1) await (look === 0 ? bed.drive(id) : bed.wake(id));
    expect((await bed.record(id))['current_step']).toBe('soak:1');
    bed.neighbours.statuses.set((await bed.revision(deployment, 2)).id, { restarts: 1 });
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'health_regression',
      result: { outcome: 'reverted', gap_seconds: 3 },
    });
    expect(changes()).toEqual([
      ['1', 90],
      ['2', null],
      ['1', 90],
      ['1', null],
    ]);
    expect(stepOf(record, 'hold_for_previous').status).toBe('succeeded');
  });

  it('only releases requests if nothing was stopped yet', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: RECREATE });
    await bed.begin(id);
    await bed.cancel(id);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'cancelled', result: { outcome: 'reverted' } });
    expect(record['steps'].slice(10).map((step: any) => step.name)).toEqual(['release_to_previous']);
    expect(changes()).toEqual([
      ['1', 90],
      ['1', null],
    ]);
  });

  it('reports failed_down if the previous revision does not start either, and leaves its start to be retried', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: RECREATE,
      progress_deadline_seconds: 100,
    });
    const [stable, candidate] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
    bed.neighbours.statuses.set(candidate.id, { ready: 0 });
    for (let look = 0; look < 5; look += 1) await (look === 0 ? bed.drive(id) : bed.wake(id));
    expect((await bed.record(id))['current_step']).toBe('await_ready');
    bed.neighbours.statuses.set(stable.id, { ready: 0, message: 'the driver is gone' });
    await bed.cancel(id);
    for (let look = 0; look < 8 && (await bed.record(id))['current_step'] !== 'start_previous'; look += 1)
      await bed.wake(id);
    await bed.wake(id);
    expect(await bed.wake(id)).toMatchObject({
      status: 'cancelling',
      message: `Starting ${stable.name} again: the driver is gone`,
    });
    await bed.age(id, 601);
    expect(await bed.finish(id)).toMatchObject({ status: 'cancelled', result: { outcome: 'failed_down' } });
    expect(deployment).toMatchObject({ state: 'degraded', activeRevisionId: stable.id });
    // Nothing prevents its start: there is no hold and no suspension, and the route names it.
    expect(bed.neighbours.suspended.has(stable.id)).toBe(false);
    expect(bed.targets(deployment)).toEqual([[stable.name, 100]]);
    expect(bed.neighbours.routes.get(deployment.id)?.hold).toBeNull();
  });

  it('can be followed by a retry, which checks and stops once more', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: RECREATE });
    await bed.whileBroken('rollout', 'provision', () => bed.finish(id));
    expect(await bed.record(id)).toMatchObject({ status: 'failed' });
    await bed.retry(id);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    expect(changes()).toEqual([
      ['1', 90],
      ['1', null],
      ['1', 90],
      ['2', null],
      // The promotion, which the real area writes for the same route.
      ['2', null],
    ]);
  });
});

describe('accepting a recreate', () => {
  it('refuses a rollout that fits only if its own deployment stops, and suggests recreate', async () => {
    const deployment = await bed.serving();
    for (const strategy of [canary(50, 100), IMMEDIATE, { type: 'candidate' as const }])
      await expect(bed.ask(deployment, { spec: spec('next'), strategy })).rejects.toMatchObject({
        code: 'capacity_exhausted',
        message: expect.stringContaining('strategy recreate'),
        extra: { capacity: { target: 'local', needed: 1, total: 1, free: 0, own: 1 } },
      });
    bed.neighbours.capacity = { total: 2, others: 1 };
    expect(await bed.ask(deployment, { spec: spec('next'), strategy: IMMEDIATE })).toMatchObject({ created: true });
    bed.neighbours.capacity = undefined;
    const unknown = await bed.serving();
    expect(await bed.ask(unknown, { spec: spec('next'), strategy: IMMEDIATE })).toMatchObject({ created: true });
  });

  it('resolves auto to a canary if there is capacity or it is unknown, else to a recreate, and the rehearsal shows the gap', async () => {
    const strategy = { ...canary(10, 100), type: 'auto' as const, hold_seconds: 30 };
    const rehearsed = async () => {
      const deployment = await bed.serving();
      return ((await bed.rehearse(deployment, { spec: spec('next'), strategy })) as any).body;
    };
    expect(await rehearsed()).toMatchObject({
      strategy: 'recreate',
      steps: expect.arrayContaining(['stop_previous']),
      would: expect.stringMatching(
        /with strategy recreate: chat-\d+-00001 stops first, and no revision serves for about 40 s; each request waits for at most 30 s/,
      ),
      capacity: { target: 'local', needed: 1, free: 0, gap_seconds: 40 },
    });
    bed.neighbours.capacity = { total: 2, others: 0 };
    expect(await rehearsed()).toMatchObject({ strategy: 'canary', capacity: { free: 1, gap_seconds: 0 } });
    bed.neighbours.capacity = undefined;
    expect(await rehearsed()).toMatchObject({ strategy: 'canary', capacity: { free: null } });
    // Stopping its own instances frees enough, so it does not wait for others.
    bed.neighbours.capacity = { total: 2, others: 1 };
    expect(await rehearsed()).toMatchObject({ strategy: 'recreate' });
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy });
    expect(await bed.record(id)).toMatchObject({ result: { strategy: 'recreate', hold_seconds: 30 } });
    await bed.finish(id);
  });

  it('refuses to keep the previous revision of a recreate warm', async () => {
    const deployment = await bed.serving();
    await expect(
      bed.ask(deployment, { spec: spec('next'), strategy: RECREATE, keep_previous_seconds: 60 }),
    ).rejects.toMatchObject({ details: [{ field: 'keep_previous_seconds', code: 'not_applicable' }] });
  });
});

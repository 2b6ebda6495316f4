import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Deployment, StrategyDto } from '@slipway/ports/deployment-records';
import { IMMEDIATE, RolloutsBed, spec, TENANT, UNJUDGED } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
  await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
}, 60_000);
afterAll(() => bed?.stop());
afterEach(() => {
  bed.neighbours.mayApprove = true;
});

const step = (traffic_percent: number, more: object = {}) => ({
  traffic_percent,
  soak_seconds: 60,
  requires_approval: false,
  pause: false,
  ...more,
});
const canary = (...steps: ReturnType<typeof step>[]): StrategyDto => ({ type: 'canary', steps });

/** Starts a canary and drives it to its first soak. */
async function soaking(strategy: StrategyDto, more: object = {}) {
  const deployment = await bed.serving();
  const id = await bed.rollout(deployment, { spec: spec('next'), strategy, analysis: UNJUDGED, ...more });
  expect(await bed.drive(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1', waiting_for: 'soak' });
  return { deployment, id };
}
const weight = ({ id, name }: Deployment) =>
  bed.targets({ id, name } as Deployment)?.find(([revision]) => revision === `${name}-00002`)?.[1] ?? 0;
const stepOf = (record: any, name: string) => record['steps'].find((one: any) => one.name === name);
const stateOf = ({ id }: Deployment) => bed.neighbours.deployments.get(id)!.state;

describe('a pause', () => {
  it('keeps the weights and stops the clock of the soak, until it is resumed', async () => {
    const { deployment, id } = await soaking(canary(step(10), step(100)));
    await bed.age(id, 50);
    await bed.pause(id, 'lunch');
    const paused = await bed.drive(id);
    expect(paused).toMatchObject({
      status: 'waiting',
      waiting_for: 'resume',
      awaiting: 'pause',
      message: expect.stringMatching(/^Paused: lunch\. (9|10) s of the soak are left\.$/),
      pause: { by: { type: 'token', id: 'tok_1' }, reason: 'lunch' },
    });
    expect(stateOf(deployment)).toBe('paused');
    // An hour later the soak still has ten seconds left.
    await bed.sql(
      `update operations set pause = jsonb_set(pause, '{at}', to_jsonb(slipway_rfc3339(now() - interval '1 hour'))) where id = $1`,
      [id],
    );
    await bed.age(id, 3_600);
    expect(await bed.wake(id)).toMatchObject({ current_step: 'soak:1', waiting_for: 'resume' });
    expect(weight(deployment)).toBe(10);
    await bed.resume(id);
    expect(await bed.drive(id)).toMatchObject({ current_step: 'soak:1', waiting_for: 'soak', pause: null });
    expect(stateOf(deployment)).toBe('progressing');
    await bed.age(id, 11);
    expect(await bed.wake(id)).toMatchObject({ current_step: 'soak:2' });
    expect(weight(deployment)).toBe(100);
  });

  it('before the traffic moves holds it there, and a second request changes nothing', async () => {
    const deployment = await bed.serving();
    const body = { spec: spec('next'), strategy: canary(step(50), step(100)), analysis: UNJUDGED };
    const id = await bed.rollout(deployment, body);
    await bed.pause(id);
    await bed.pause(id, 'another reason');
    expect(await bed.drive(id)).toMatchObject({
      current_step: 'shift_traffic:1',
      waiting_for: 'resume',
      message: 'Paused by a person.',
      pause: { reason: null },
    });
    expect(await bed.wake(id)).toMatchObject({ current_step: 'shift_traffic:1', status: 'waiting' });
    expect(weight(deployment)).toBe(0);
    expect(await bed.events(deployment, 'rollout.paused')).toMatchObject([
      { step: 'shift_traffic:1', reason: 'person' },
    ]);
    await bed.resume(id);
    expect(await bed.drive(id)).toMatchObject({ current_step: 'soak:1' });
    expect(weight(deployment)).toBe(50);
  });

  it('is refused if nothing is left that it would hold', async () => {
    const deployment = await bed.serving();
    const built = await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'candidate' } });
    await expect(bed.pause(built)).rejects.toMatchObject({ code: 'operation_not_pausable' });
    await bed.finish(built);
    const moved = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    await bed.finish(moved);
    await expect(bed.pause(moved)).rejects.toMatchObject({ code: 'operation_not_pausable' });
    const back = await bed.rollback(deployment);
    await expect(bed.pause(back)).rejects.toMatchObject({ code: 'operation_not_pausable' });
    await bed.finish(back);
  });

  it('is seen by a worker that was about to move traffic', async () => {
    const { deployment, id } = await soaking(canary(step(10), step(100)));
    await bed.age(id, 61);
    const { steps } = bed.harness.definitions.find('rollout')!;
    const shift = steps['shift_traffic']!;
    steps['shift_traffic'] = async (context) => {
      steps['shift_traffic'] = shift;
      const outcome = await shift(context);
      await bed.pause(id);
      return outcome;
    };
    await bed.wake(id);
    expect(await bed.record(id)).toMatchObject({ current_step: 'shift_traffic:2', waiting_for: 'resume' });
    // The route of this bed is not part of the transaction that was rolled back; its events are.
    const advanced = (await bed.events(deployment, 'rollout.step_advanced')).map((one) => one.step);
    expect(advanced).not.toContain('shift_traffic:2');
    await bed.cancel(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a promotion by hand', () => {
  it('ends the soak and the gate of the running step', async () => {
    const { deployment, id } = await soaking(canary(step(10), step(50), step(100)));
    await bed.promote(id);
    const next = await bed.drive(id);
    expect(next).toMatchObject({ current_step: 'soak:2', waiting_for: 'soak' });
    expect(weight(deployment)).toBe(50);
    expect(stepOf(next, 'soak:1')).toMatchObject({
      message: 'Passed by a person.',
      evidence: { passed_by: { type: 'token', id: 'tok_1' }, reason: null },
    });
    await bed.cancel(id);
    await bed.finish(id);
  });

  it('moves all traffic at once with full, also out of a pause', async () => {
    const { deployment, id } = await soaking(canary(step(10), step(50), step(100)));
    await bed.pause(id);
    await bed.drive(id);
    await bed.promote(id, 'full');
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00002`, 100]]);
    expect(['shift_traffic:2', 'shift_traffic:3'].map((name) => stepOf(record, name).status)).toEqual([
      'skipped',
      'skipped',
    ]);
    expect(bed.neighbours.routeChanges).toHaveLength(2);
  });

  it('is refused before anything soaks, after the end, and for steps that a plan fixed', async () => {
    const deployment = await bed.serving();
    const body = { spec: spec('next'), strategy: canary(step(50), step(100)), analysis: UNJUDGED };
    const id = await bed.rollout(deployment, body);
    await expect(bed.promote(id)).rejects.toMatchObject({ code: 'operation_not_promotable' });
    await bed.cancel(id);
    await bed.finish(id);
    await expect(bed.promote(id)).rejects.toMatchObject({ code: 'operation_not_promotable' });

    const { id: planned } = await soaking(canary(step(50), step(100)), { plan_id: 'plan_1' });
    for (const to of ['next', 'full'] as const)
      await expect(bed.promote(planned, to)).rejects.toMatchObject({ code: 'promotion_refused' });
    await bed.cancel(planned);
    await bed.finish(planned);
  });

  it('passes a decision of the gate, with or without a plan', async () => {
    const analysis = {
      metrics: [
        { name: 'error_rate', check: 'threshold', threshold: 0.1, min_samples: 50, failure_limit: 0, dry_run: false },
      ],
      on_failure: 'rollback',
      on_inconclusive: 'pause',
    } as const;
    const deployment = await bed.serving();
    const strategy = canary(step(50, { soak_seconds: 0 }), step(100, { soak_seconds: 0 }));
    const id = await bed.rollout(deployment, {
      spec: spec('n'),
      strategy,
      analysis: analysis as never,
      plan_id: 'plan_1',
    });
    expect(await bed.finish(id)).toMatchObject({ current_step: 'analyze:1', waiting_for: 'decision' });
    await bed.promote(id);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ current_step: 'analyze:2', waiting_for: 'decision' });
    expect(stepOf(record, 'analyze:1').message).toBe('unavailable; passed by a person');
    await bed.cancel(id);
    await bed.finish(id);
  });
});

describe('a step that waits for a person', () => {
  it('of requires_approval follows the rule of approvals, for promote and resume', async () => {
    const { id } = await soaking(canary(step(10, { requires_approval: true }), step(100)));
    await bed.promote(id);
    expect(await bed.drive(id)).toMatchObject({
      current_step: 'await_promotion:1',
      waiting_for: 'approval',
      awaiting: 'approval',
    });
    bed.neighbours.mayApprove = false;
    await expect(bed.promote(id)).rejects.toMatchObject({ code: 'self_approval' });
    await expect(bed.resume(id)).rejects.toMatchObject({ code: 'self_approval' });
    await expect(bed.promote(id, 'full')).rejects.toMatchObject({ code: 'self_approval' });
    bed.neighbours.mayApprove = true;
    await bed.promote(id);
    const record = await bed.drive(id);
    expect(record).toMatchObject({ current_step: 'soak:2' });
    expect(stepOf(record, 'await_promotion:1')).toMatchObject({ message: 'Approved.' });
    await bed.cancel(id);
    await bed.finish(id);
  });

  it('of requires_approval cannot be passed from an earlier step with full', async () => {
    const { id } = await soaking(canary(step(10), step(50, { requires_approval: true }), step(100)));
    bed.neighbours.mayApprove = false;
    await expect(bed.promote(id, 'full')).rejects.toMatchObject({ code: 'self_approval' });
    await bed.promote(id);
    expect(await bed.drive(id)).toMatchObject({ current_step: 'soak:2' });
    await bed.cancel(id);
    await bed.finish(id);
  });

  it('of pause is continued by any operator', async () => {
    const { deployment, id } = await soaking(canary(step(10, { pause: true }), step(100)));
    bed.neighbours.mayApprove = false;
    await bed.age(id, 61);
    expect(await bed.wake(id)).toMatchObject({
      current_step: 'await_promotion:1',
      waiting_for: 'resume',
      message: `Waiting for a person: slipway rollouts resume ${deployment.name}`,
    });
    expect(stateOf(deployment)).toBe('paused');
    await bed.resume(id);
    expect(await bed.drive(id)).toMatchObject({ current_step: 'soak:2' });
    await bed.cancel(id);
    await bed.finish(id);
  });
});

it('writes an audit row and an event for each of them', async () => {
  const { deployment, id } = await soaking(canary(step(10), step(100)));
  await bed.pause(id, 'wait');
  await bed.resume(id);
  await bed.promote(id, 'full');
  await bed.finish(id);
  const actions = await bed.sql(
    `select action from audit_log where resource_name = $1 and tenant_id = $2 order by at, id`,
    [id, TENANT],
  );
  expect(actions.map(({ action }) => action)).toEqual(['operation.pause', 'operation.resume', 'operation.promote']);
  for (const type of ['operation.paused', 'operation.resumed', 'operation.promoted'])
    expect(await bed.events(deployment, type)).toHaveLength(1);
});

describe('a rollout of the active spec', () => {
  it('changes nothing, and says so', async () => {
    const deployment = await bed.serving();
    const before = await bed.states(deployment);
    const rehearsal: any = await bed.rehearse(deployment, { spec: spec('m-1') as never });
    expect(rehearsal.body).toMatchObject({
      would: expect.stringContaining('change nothing'),
      capacity: { target: 'local', needed: 0, gap_seconds: 0 },
    });
    const id = await bed.rollout(deployment, { spec: spec('m-1'), strategy: canary(step(10), step(100)) });
    expect(await bed.finish(id)).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'unchanged', revision: `${deployment.name}-00001` },
    });
    expect(bed.neighbours.routeChanges).toEqual([]);
    expect(bed.neighbours.owners.get(deployment.id)).toBeUndefined();
    expect(bed.neighbours.deployments.get(deployment.id)).toMatchObject({
      currentOperationId: null,
      candidateRevisionId: null,
    });
    expect(await bed.states(deployment)).toEqual(before);
  });

  it('moves traffic back if another revision has a share', async () => {
    const deployment = await bed.serving(2);
    const route = bed.neighbours.routes.get(deployment.id)!;
    const [one, two] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
    route.targets = [one, two].map(({ id, name }) => ({ revisionId: id, revisionName: name, weight: 50 }));
    const id = await bed.rollout(deployment, { spec: spec('m-2'), strategy: IMMEDIATE });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00002`, 100]]);
  });
});

describe('a stable revision without a ready instance', () => {
  const down = { desired: 1, ready: 0, alive: 1, restarts: 9, message: 'crash loop' };

  it('is replaced by a ready candidate at once, with approvals only', async () => {
    const deployment = await bed.serving();
    const stable = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(stable.id, down);
    const strategy = canary(step(10, { requires_approval: true }), step(100));
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy, analysis: undefined });
    const waiting = await bed.drive(id);
    expect(waiting).toMatchObject({ current_step: 'await_promotion:1', waiting_for: 'approval' });
    expect(weight(deployment)).toBe(100);
    expect(stepOf(waiting, 'shift_traffic:1')).toMatchObject({
      message: 'The stable revision has no ready instance, so the candidate has taken over.',
      evidence: { stable: { ready: 0, desired: 1, message: 'crash loop' } },
    });
    await bed.promote(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    bed.neighbours.statuses.delete(stable.id);
  });

  it('is replaced during a soak if it stays down', async () => {
    const { deployment, id } = await soaking(canary(step(10), step(100)));
    const stable = await bed.revision(deployment, 1);
    bed.neighbours.statuses.set(stable.id, down);
    expect(await bed.wake(id)).toMatchObject({ current_step: 'soak:1' });
    await bed.age(id, 11);
    expect(await bed.wake(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
    bed.neighbours.statuses.delete(stable.id);
  });
});

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { codeOf } from '../harness/refusals.js';
import { Stack } from '../harness/stack.js';

jest.setTimeout(120_000);

const spec = (model: string) => ({ model: { id: model }, runtime: { target: 'local', engine: 'sim' } });
const steps = (soak_seconds: number) => [
  { traffic_percent: 50, soak_seconds },
  { traffic_percent: 100, soak_seconds },
];
/** A gate that always passes: no client sends requests here, and a rehearsed metric never blocks. */
const GATE = { metrics: [{ name: 'error_rate' as const, check: 'threshold' as const, threshold: 1, dry_run: true }] };

describe('the settings of a deployment, with real processes', () => {
  let stack: Stack;
  let slipway: Slipway;
  let operator: Slipway;
  let alice: Slipway;
  let number = 0;

  beforeAll(async () => {
    stack = await Stack.start();
    slipway = stack.slipway();
    operator = await mint('bob');
    alice = await mint('alice');
  });
  afterAll(() => stack?.stop());

  async function mint(id: string): Promise<Slipway> {
    const made = await slipway.tokens.create({ name: id, scopes: ['operator'], owner: { type: 'person', id } });
    return stack.as(made.token!);
  }
  /** Makes a deployment with one active revision. */
  const active = async (settings: object = {}) => {
    const name = `set-${++number}`;
    await slipway.deployments.create({ name, ...settings });
    await promoted(name, { spec: spec('one'), strategy: { type: 'immediate' } });
    return name;
  };
  const promoted = async (name: string, body: object) => {
    const record = await stack.operation(await stack.rollOut(name, body));
    expect(record).toMatchObject({ status: 'succeeded' });
    return record;
  };
  type Settings = BodyOf<'updateDeployment'>;
  const patch = (name: string, body: Settings, by = slipway) => by.deployments.update(name, body);

  it('change while a rollout runs, which continues as it began', async () => {
    const name = await active({ default_strategy: { type: 'canary', steps: steps(2) }, default_analysis: GATE });
    const id = await stack.rollOut(name, { spec: spec('two') });
    await stack.operation(id, ['waiting']);
    const during = await patch(name, { default_strategy: null, default_analysis: null, labels: { team: 'search' } });
    expect(during).toMatchObject({ state: 'progressing', current_operation_id: id, default_analysis: null });
    const record = await stack.operation(id);
    expect(record).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'promoted', gate: { source: 'deployment' }, analysis: { 'analyze:2': { verdict: 'pass' } } },
    });
    expect(await slipway.deployments.get(name)).toMatchObject({
      state: 'active',
      active_revision: `${name}-00002`,
      labels: { team: 'search' },
      default_strategy: null,
    });
    const late = slipway.deployments.update(name, { description: 'late' }, { ifMatch: during.etag });
    expect(await codeOf(late)).toBe('412 precondition_failed');
    const { data } = await slipway.deployments.events.list(name, { type: 'deployment.updated' });
    expect(data).toHaveLength(1);
  });

  it('guard it from rollouts without an approved plan, but never from a rollback, and only an admin ends that', async () => {
    const name = await active();
    await promoted(name, { spec: spec('two'), strategy: { type: 'immediate' } });
    const raised = await patch(
      name,
      { protection: { deletion: true, rollouts: 'approved_plan' }, default_analysis: GATE },
      operator,
    );
    expect(raised.protection).toEqual({ deletion: true, rollouts: 'approved_plan' });
    for (const body of [{ spec: spec('three') }, { spec_patch: { model: { id: 'three' } } }])
      expect(await codeOf(stack.rollOut(name, body))).toBe('409 plan_required');
    expect(await codeOf(slipway.deployments.delete(name))).toBe('409 deployment_protected');
    expect(await codeOf(patch(name, { protection: null }, operator))).toBe('403 scope_insufficient');

    const back = await operator.deployments.rollbacks.create(name);
    expect(await stack.operation(back.operation.id)).toMatchObject({ status: 'succeeded' });

    const draft = {
      spec: spec('three'),
      strategy: { type: 'blue_green', steps: [{ traffic_percent: 100, soak_seconds: 0 }] },
    } as const;
    const made = await alice.autopilot.plans.create({ deployment: name, rollout: draft });
    expect(made.rollout).toMatchObject({ analysis: { metrics: [{ name: 'error_rate' }] } });
    expect(await codeOf(stack.rollOut(name, { plan_id: made.id }))).toBe('409 plan_not_approved');
    await operator.autopilot.plans.approve(made.id, { plan_digest: made.content_digest });
    // The approved plan keeps its gate, although the deployment has none any more.
    expect(await patch(name, { default_analysis: null }, operator)).toMatchObject({ default_analysis: null });
    const record = await promoted(name, { plan_id: made.id });
    expect(record.result).toMatchObject({
      gate: { source: 'rollout' },
      analysis: { 'analyze:1': { verdict: 'pass' } },
    });

    await patch(name, { protection: { rollouts: 'any', deletion: false } });
    await promoted(name, { spec: spec('four'), strategy: { type: 'immediate' } });
    const rows = await stack.query(
      `select action from audit_log where resource_name = $1 and action like 'deployment.%' order by id`,
      [name],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'deployment.create',
      'deployment.update',
      'deployment.update',
      'deployment.unprotect',
    ]);
  });
});

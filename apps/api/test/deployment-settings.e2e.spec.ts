import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Stack } from './stack.js';

jest.setTimeout(120_000);

const spec = (model: string) => ({ model: { id: model }, runtime: { target: 'local', engine: 'sim' } });
const steps = (soak_seconds: number) => [
  { traffic_percent: 50, soak_seconds },
  { traffic_percent: 100, soak_seconds },
];
/** A gate that lets pass whatever it sees: nobody sends requests here, and a rehearsed metric never blocks. */
const GATE = { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 1, dry_run: true }] };

describe('the settings of a deployment, with real processes', () => {
  let stack: Stack;
  let operator: string;
  let alice: string;
  let number = 0;

  beforeAll(async () => {
    stack = await Stack.start();
    operator = await mint('bob');
    alice = await mint('alice');
  });
  afterAll(() => stack?.stop());

  async function mint(id: string): Promise<string> {
    const owner = { type: 'person', id };
    const made = await stack.send('POST', '/tokens', { name: id, scopes: ['operator'], owner });
    expect(made.status).toBe(201);
    return made.body.token;
  }
  /** A deployment with one active revision. */
  const active = async (settings: object = {}) => {
    const name = `set-${++number}`;
    expect((await stack.send('POST', '/deployments', { name, ...settings })).status).toBe(201);
    await promoted(name, { spec: spec('one'), strategy: { type: 'immediate' } });
    return name;
  };
  const rollout = (name: string, body: object) => stack.send('POST', `/deployments/${name}/rollouts`, body);
  const promoted = async (name: string, body: object) => {
    const accepted = await rollout(name, body);
    expect([accepted.status, accepted.body]).toEqual([202, expect.anything()]);
    const record = await stack.operation(accepted.body.operation.id);
    expect(record).toMatchObject({ status: 'succeeded' });
    return record;
  };
  const patch = (name: string, body: object, token?: string, headers?: Record<string, string>) =>
    stack.send('PATCH', `/deployments/${name}`, body, { token, headers });
  const codeOf = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code}`;

  it('change while a rollout runs, which goes on as it began', async () => {
    const name = await active({ default_strategy: { type: 'canary', steps: steps(2) }, default_analysis: GATE });
    const { body } = await rollout(name, { spec: spec('two') });
    const { id } = body.operation;
    await stack.operation(id, ['waiting']);
    const during = await patch(name, { default_strategy: null, default_analysis: null, labels: { team: 'search' } });
    expect(during.body).toMatchObject({ state: 'progressing', current_operation_id: id, default_analysis: null });
    const record = await stack.operation(id);
    expect(record).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'promoted', gate: { source: 'deployment' }, analysis: { 'analyze:2': { verdict: 'pass' } } },
    });
    const after = (await stack.send('GET', `/deployments/${name}`)).body;
    expect(after).toMatchObject({
      state: 'active',
      active_revision: `${name}-00002`,
      labels: { team: 'search' },
      default_strategy: null,
    });
    const late = await patch(name, { description: 'late' }, undefined, { 'if-match': during.body.etag });
    expect(codeOf(late)).toBe('412 precondition_failed');
    const events = (await stack.send('GET', `/deployments/${name}/events?type=deployment.updated`)).body.data;
    expect(events).toHaveLength(1);
  });

  it('guard it from rollouts without an approved plan, never from the way back, and only an admin ends that', async () => {
    const name = await active();
    await promoted(name, { spec: spec('two'), strategy: { type: 'immediate' } });
    const raised = await patch(
      name,
      { protection: { deletion: true, rollouts: 'approved_plan' }, default_analysis: GATE },
      operator,
    );
    expect(raised.body.protection).toEqual({ deletion: true, rollouts: 'approved_plan' });
    for (const body of [{ spec: spec('three') }, { spec_patch: { model: { id: 'three' } } }])
      expect(codeOf(await rollout(name, body))).toBe('409 plan_required');
    expect(codeOf(await stack.send('DELETE', `/deployments/${name}`))).toBe('409 deployment_protected');
    expect(codeOf(await patch(name, { protection: null }, operator))).toBe('403 scope_insufficient');

    const back = await stack.send('POST', `/deployments/${name}/rollback`, {}, { token: operator });
    expect(await stack.operation(back.body.operation.id)).toMatchObject({ status: 'succeeded' });

    const draft = {
      spec: spec('three'),
      strategy: { type: 'blue_green', steps: [{ traffic_percent: 100, soak_seconds: 0 }] },
    };
    const made = await stack.send('POST', '/autopilot/plans', { deployment: name, rollout: draft }, { token: alice });
    expect([made.status, made.body.rollout?.analysis?.metrics]).toEqual([
      201,
      [expect.objectContaining({ name: 'error_rate' })],
    ]);
    expect(codeOf(await rollout(name, { plan_id: made.body.id }))).toBe('409 plan_not_approved');
    const approval = { plan_digest: made.body.content_digest };
    const approved = await stack.send('POST', `/autopilot/plans/${made.body.id}/approve`, approval, {
      token: operator,
    });
    expect(approved.status).toBe(200);
    // What was approved has its gate, although the deployment has none any more.
    expect((await patch(name, { default_analysis: null }, operator)).status).toBe(200);
    const record = await promoted(name, { plan_id: made.body.id });
    expect(record.result).toMatchObject({
      gate: { source: 'rollout' },
      analysis: { 'analyze:1': { verdict: 'pass' } },
    });

    expect((await patch(name, { protection: { rollouts: 'any', deletion: false } })).status).toBe(200);
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

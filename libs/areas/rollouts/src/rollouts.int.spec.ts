import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runInRequest, type RequestContext } from '@slipway/platform-http';
import type { Deployment } from '@slipway/ports/deployment-records';
import { ROLLOUTS, type RolloutsPort } from '@slipway/ports/rollouts';
import { canary, IMMEDIATE, RolloutsBed, spec, TENANT, UNJUDGED } from '../test/rollouts-bed.js';
import type { RolloutDto } from './rollout.dto.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const key = (text: string, fingerprint = 'same') => ({ method: 'POST', path: '/rollouts', key: text, fingerprint });

describe('accepting a rollout', () => {
  it('writes the candidate, takes the traffic and stores the earlier route and revision', async () => {
    const deployment = await bed.serving();
    const found = bed.neighbours.routes.get(deployment.id);
    const { operation, created } = await bed.ask(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    expect([created, operation.status]).toEqual([true, 'pending']);
    expect(bed.neighbours.owners.get(deployment.id)).toBe(operation.id);
    const candidate = await bed.revision(deployment, 2);
    expect(deployment).toMatchObject({
      state: 'progressing',
      currentOperationId: operation.id,
      candidateRevisionId: candidate.id,
    });
    const [row] = await bed.sql('select input from operations where id = $1', [operation.id]);
    expect(row.input).toMatchObject({ foundRoute: found, foundActiveRevisionId: deployment.activeRevisionId });
    expect(await bed.sql('select source from revisions where id = $1', [candidate.id])).toEqual([
      {
        source: {
          kind: 'rollout',
          operation_id: operation.id,
          plan_id: null,
          base_revision: `${deployment.name}-00001`,
        },
      },
    ]);
    expect(await bed.audits(deployment, 'rollout.create')).toBe(2);
  });

  it('resolves the names in its spec or patch before it checks them', async () => {
    const [one, other] = [await bed.serving(), await bed.serving()];
    const before = bed.neighbours.resolved.length;
    const [whole, patch] = [spec('next'), { model: { id: 'other' } }];
    await bed.rehearse(one, { spec: whole, strategy: IMMEDIATE });
    await bed.rehearse(other, { spec_patch: patch, strategy: IMMEDIATE });
    expect(bed.neighbours.resolved.slice(before).map(([, given]) => given)).toEqual([whole, patch]);
  });

  it('adopts its operation if the request is repeated, and writes nothing more', async () => {
    const deployment = await bed.serving();
    const body = { spec: spec('next'), strategy: IMMEDIATE };
    const first = await bed.ask(deployment, body, key(deployment.name));
    const counted = async () =>
      Object.values(
        (
          await bed.sql(
            `select (select count(*) from audit_log) as audits, (select count(*) from events) as events,
               (select count(*) from revisions) as revisions, (select sum(dispatch) from operations) as dispatches`,
          )
        )[0],
      );
    const before = await counted();
    const again = await bed.ask(deployment, body, key(deployment.name));
    expect([again.created, again.operation.id]).toEqual([false, first.operation.id]);
    expect(await counted()).toEqual(before);
    await expect(bed.ask(deployment, body, key(deployment.name, 'other'))).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('reuses the revision that already has this spec, but never one that failed', async () => {
    const deployment = await bed.serving(2);
    const again = await bed.finish(await bed.rollout(deployment, { spec: spec('m-1'), strategy: IMMEDIATE }));
    expect(again).toMatchObject({
      status: 'succeeded',
      result: { revision: `${deployment.name}-00001`, reused: true },
    });
    expect(await bed.states(deployment)).toEqual(['active', 'standby']);
    expect(await bed.events(deployment, 'revision.created')).toHaveLength(2);

    const broken = await bed.rollout(deployment, { spec: spec('m-3') });
    bed.neighbours.statuses.set((await bed.revision(deployment, 3)).id, { ready: 0 });
    await bed.drive(broken);
    await bed.age(broken, 601);
    expect(await bed.finish(broken)).toMatchObject({ status: 'failed' });
    expect((await bed.ask(deployment, { spec: spec('m-3') })).operation.result).toMatchObject({
      revision: `${deployment.name}-00004`,
    });
  });

  it('warns only if nothing will be routed to the rollout', async () => {
    const warningsOf = async (deployment: Deployment, body: Partial<RolloutDto>) => {
      const context: RequestContext = { requestId: 'r', warnings: [] };
      await runInRequest(context, () => bed.ask(deployment, body));
      return context.warnings;
    };
    const first = bed.deployment();
    expect(await warningsOf(first, { spec: spec('m') })).toEqual([
      {
        code: 'no_route',
        field: 'strategy',
        message: `The candidate will receive no traffic, because the deployment has no route. Set one with PUT /api/v1/deployments/${first.name}/route, or create a rollout with strategy immediate.`,
      },
    ]);
    expect(await warningsOf(bed.deployment(), { spec: spec('m'), strategy: IMMEDIATE })).toEqual([]);
    expect(await warningsOf(await bed.serving(), { spec: spec('next') })).toEqual([]);
    const withDefault = bed.deployment({ defaultStrategy: IMMEDIATE });
    expect(await warningsOf(withDefault, { spec: spec('m') })).toEqual([]);
    const patch = { runtime: { agrs: { ttft_ms: 1 } } };
    expect(await warningsOf(await bed.serving(), { spec_patch: patch })).toEqual([
      { code: 'unknown_field', field: 'spec_patch.runtime.agrs', message: 'did you mean `spec_patch.runtime.args`?' },
    ]);
  });

  it('is refused for each unknown field of a patch if the request is strict, also when it is rehearsed', async () => {
    const deployment = await bed.serving();
    const spec_patch = { runtime: { agrs: {} }, scaling: { min_replica: null, min_replicas: 1 } };
    const strictly = (send: () => Promise<unknown>) =>
      runInRequest({ requestId: 'r', warnings: [], isStrict: true }, send);
    for (const send of [() => bed.ask(deployment, { spec_patch }), () => bed.rehearse(deployment, { spec_patch })])
      await expect(strictly(send)).rejects.toMatchObject({
        code: 'validation_failed',
        details: [
          { field: 'spec_patch.runtime.agrs', code: 'unknown_field' },
          {
            field: 'spec_patch.scaling.min_replica',
            code: 'unknown_field',
            message: expect.stringContaining('did you mean `spec_patch.scaling.min_replicas`?'),
          },
        ],
      });
    expect(await bed.states(deployment)).toEqual(['active']);
  });

  it('is checked as strictly for other areas, with the path of the field in their own body', async () => {
    const deployment = await bed.serving();
    const base = await bed.revision(deployment, 1);
    const port = bed.harness.context.get<RolloutsPort>(ROLLOUTS, { strict: false });
    const check = (isStrict: boolean) => {
      const context: RequestContext = { requestId: 'r', warnings: [], isStrict };
      const body = { spec_patch: {}, stratgy: { type: 'immediate' } };
      const checked = () => bed.database.tx('system', (tx) => port.check(tx, TENANT, body, base, 'rollout'));
      return runInRequest(context, async () => ({ ...(await checked()), warnings: context.warnings }));
    };
    await expect(check(true)).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'rollout.stratgy', code: 'unknown_field' }],
    });
    expect((await check(false)).warnings).toMatchObject([{ code: 'unknown_field', field: 'rollout.stratgy' }]);
  });

  it('is refused in a rehearsal with the Idempotency-Key of another request, and the key of a rehearsal stays free', async () => {
    const body = { spec: spec('next'), strategy: IMMEDIATE };
    const [rehearsed, deployment] = [await bed.serving(), await bed.serving()];
    const text = deployment.name;
    expect(await bed.rehearse(rehearsed, body, key(text))).toMatchObject({ body: { valid: true } });
    const first = await bed.ask(deployment, body, key(text, 'other'));
    expect(first.created).toBe(true);
    await expect(bed.rehearse(deployment, body, key(text))).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await bed.rehearse(deployment, body, key(text, 'other'))).toMatchObject({ status: 200 });
  });

  it('judges a plan with the gate of its time, not with one that the deployment got later', async () => {
    const deployment = await bed.serving(1, { defaultStrategy: canary(50, 100), defaultAnalysis: { ...UNJUDGED } });
    const { operation } = await bed.ask(deployment, { spec: spec('next'), plan_id: 'plan_1' });
    expect(operation.result.gate).toMatchObject({ source: 'default' });
  });

  it('is refused with a message that names the first field, and leaves the deployment unchanged', async () => {
    const deployment = bed.deployment();
    bed.neighbours.issues = [
      { field: 'runtime.target', code: 'unknown', message: 'execution target "gone" does not exist; available: local' },
      { field: 'runtime.engine', code: 'unknown', message: 'target "local" has the engines: sim' },
    ];
    try {
      await expect(bed.ask(deployment, { spec: spec('m') })).rejects.toMatchObject({
        code: 'validation_failed',
        message: 'spec.runtime.target: execution target "gone" does not exist; available: local',
        details: [{ field: 'spec.runtime.target' }, { field: 'spec.runtime.engine' }],
      });
    } finally {
      bed.neighbours.issues = [];
    }
    expect(deployment).toMatchObject({ state: 'creating', currentOperationId: null });
  });

  it('merges a patch into the active revision, or into the one it names', async () => {
    const deployment = await bed.serving(2);
    const modelOf = async (number: number) => (await bed.revision(deployment, number)).spec.model.id;
    await bed.finish(await bed.rollout(deployment, { spec_patch: { scaling: { min_replicas: 2 } } }));
    expect(await modelOf(3)).toBe('m-2');
    await bed.finish(
      await bed.rollout(deployment, { spec_patch: { scaling: { min_replicas: 2 } }, base_revision: '1' }),
    );
    expect(await modelOf(4)).toBe('m-1');
    await expect(bed.ask(bed.deployment(), { spec_patch: {} })).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'spec_patch', code: 'no_base' }],
    });
  });

  it('is refused if the active revision is not the expected one, or if there is none', async () => {
    const deployment = await bed.serving(2);
    const expecting = (expected_active_revision: string) =>
      bed.ask(deployment, { spec: spec('next'), expected_active_revision });
    await expect(expecting('1')).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(bed.ask(bed.deployment(), { spec: spec('x'), expected_active_revision: '1' })).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    expect((await expecting(`${deployment.name}-00002`)).created).toBe(true);
  });

  it.each([
    ['another operation is live', { currentOperationId: 'op_other' }],
    ['the deployment is being deleted', { state: 'deleting' as const }],
  ])('is refused while %s', async (_what, standing) => {
    const deployment = bed.deployment(standing);
    await expect(bed.ask(deployment, { spec: spec('next') })).rejects.toMatchObject({ code: 'operation_in_progress' });
    expect(await bed.sql('select 1 from operations where resource_name = $1', [deployment.name])).toEqual([]);
  });

  it('is refused for a spec that no target can run, with the path of the field in the body', async () => {
    const deployment = await bed.serving();
    bed.neighbours.issues = [{ field: 'runtime.engine', code: 'unknown', message: 'nobody knows it' }];
    try {
      for (const within of ['spec', 'spec_patch'])
        await expect(bed.ask(deployment, { [within]: spec('next') })).rejects.toMatchObject({
          code: 'validation_failed',
          details: [{ field: `${within}.runtime.engine`, code: 'unknown' }],
        });
    } finally {
      bed.neighbours.issues = [];
    }
  });

  it("uses the deployment's strategy if the request has none", async () => {
    const deployment = await bed.serving(1, { defaultStrategy: canary(30, 100) });
    const { operation } = await bed.ask(deployment, { spec: spec('next') });
    expect(operation.steps.map((step: any) => step.name)).toContain('shift_traffic:2');
    expect(operation.result).toMatchObject({ strategy: 'canary', strategy_steps: canary(30, 100).steps });
    expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
    expect(bed.neighbours.routeChanges[0]?.targets.map(({ weight }) => weight)).toEqual([70, 30]);
  });
});

describe("the deployment's default_analysis", () => {
  const metric = { name: 'error_rate' as const, check: 'threshold' as const, threshold: 0.05 };
  const gate = {
    metrics: [{ ...metric, min_samples: 50, failure_limit: 0, dry_run: false, window_seconds: 3_600 }],
    on_failure: 'rollback' as const,
    on_inconclusive: 'rollback' as const,
  };

  it('is the gate of a rollout that names none, and the operation shows it', async () => {
    await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
    const deployment = await bed.serving(1, { defaultAnalysis: gate });
    const { operation } = await bed.ask(deployment, { spec: spec('next'), strategy: canary(50, 100) });
    expect(operation.result.gate).toMatchObject({ source: 'deployment', ...gate });
    expect((await bed.events(deployment, 'rollout.started')).at(-1)).toMatchObject({ gate: { source: 'deployment' } });
    await bed.served((await bed.revision(deployment, 2)).id, { ok: 50, failed: 50 });
    // The accepted gate applies, even if the default changes in the meantime.
    deployment.defaultAnalysis = null;
    expect(await bed.finish(operation.id)).toMatchObject({
      status: 'failed',
      error_code: 'analysis_failed',
      result: {
        outcome: 'reverted',
        gate: { source: 'deployment' },
        analysis: { 'analyze:1': { verdict: 'breached' } },
      },
    });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00001`, 100]]);
  });

  it('does not apply to a rollout with its own gate or without analysis', async () => {
    const deployment = await bed.serving(1, { defaultAnalysis: gate });
    const own = { ...gate, on_failure: 'pause' as const };
    const asked = await bed.ask(deployment, { spec: spec('next'), strategy: canary(100), analysis: own });
    expect(asked.operation.result.gate).toMatchObject({ source: 'rollout', ...own });
    const first = await bed.ask(bed.deployment({ defaultAnalysis: gate }), { spec: spec('m'), strategy: canary(100) });
    expect(first.operation.result.gate).toBeNull();
    expect(await bed.finish(first.operation.id)).toMatchObject({ status: 'succeeded' });
  });
});

describe('protection.rollouts', () => {
  const approved = { protection: { deletion: false, rollouts: 'approved_plan' as const } };

  it('refuses a rollout or rehearsal without a plan, and writes nothing', async () => {
    const deployment = await bed.serving(1);
    Object.assign(deployment, approved);
    const refusal = { code: 'plan_required', message: expect.stringContaining(deployment.name) };
    for (const strategy of [IMMEDIATE, { type: 'candidate' as const }])
      await expect(bed.ask(deployment, { spec: spec('next'), strategy })).rejects.toMatchObject(refusal);
    await expect(bed.rehearse(deployment, { spec: spec('next') })).rejects.toMatchObject(refusal);
    expect(await bed.states(deployment)).toEqual(['active']);
    expect(await bed.sql('select 1 from operations where resource_id = $1', [deployment.id])).toHaveLength(1);
  });

  it('allows a first revision and a rollback', async () => {
    const deployment = await bed.serving(1, approved);
    Object.assign(deployment, { protection: { deletion: true, rollouts: 'any' } });
    await bed.finish(await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE }));
    Object.assign(deployment, { protection: { deletion: true, rollouts: 'approved_plan' } });
    expect(await bed.finish(await bed.rollback(deployment))).toMatchObject({ status: 'succeeded' });
    expect(bed.targets(deployment)).toEqual([[`${deployment.name}-00001`, 100]]);
  });
});

describe('a retry', () => {
  const failed = async (more: { plan_id?: string } = {}) => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE, ...more });
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.statuses.set(candidate.id, { ready: 0 });
    await bed.drive(id);
    await bed.age(id, 601);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed' });
    return { deployment, id, candidate };
  };

  it('continues at the failed step, as the owner of the traffic', async () => {
    const { deployment, id, candidate } = await failed();
    await bed.retry(id);
    expect(bed.neighbours.owners.get(deployment.id)).toBe(id);
    expect(await bed.states(deployment)).toEqual(['active', 'pending']);
    expect(deployment).toMatchObject({
      state: 'progressing',
      currentOperationId: id,
      candidateRevisionId: candidate.id,
    });
    bed.neighbours.statuses.delete(candidate.id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.states(deployment)).toEqual(['standby', 'active']);
  });

  it('restores the route from the time of the retry if it fails again', async () => {
    const { deployment, id } = await failed();
    await bed.finish(await bed.rollout(deployment, { spec: spec('between'), strategy: IMMEDIATE }));
    await bed.retry(id);
    const [row] = await bed.sql('select input from operations where id = $1', [id]);
    expect(row.input).toMatchObject({
      foundRoute: { targets: [{ revisionName: `${deployment.name}-00003`, weight: 100 }] },
      foundActiveRevisionId: (await bed.revision(deployment, 3)).id,
    });
  });

  it('is refused if the deployment requires a plan by now', async () => {
    const protection = { deletion: false, rollouts: 'approved_plan' };
    const { deployment, id } = await failed();
    Object.assign(deployment, { protection });
    await expect(bed.retry(id)).rejects.toMatchObject({ code: 'plan_required' });
    expect((await bed.record(id))['status']).toBe('failed');
    const planned = await failed({ plan_id: 'plan_1' });
    Object.assign(planned.deployment, { protection });
    await bed.retry(planned.id);
    expect((await bed.record(planned.id))['status']).toBe('pending');
  });

  it('is refused during another operation', async () => {
    const { deployment, id } = await failed();
    await bed.rollout(deployment, { spec: spec('between') });
    await expect(bed.retry(id)).rejects.toMatchObject({ code: 'operation_in_progress' });
    expect((await bed.record(id))['status']).toBe('failed');
  });
});

describe('the number of instances that a rollout starts with', () => {
  const takenOver = async (deployment: Deployment, number: number) =>
    bed.neighbours.takenOver.get((await bed.revision(deployment, number)).id);

  it.each([
    ['immediate', IMMEDIATE],
    ['a canary', canary(50, 100)],
  ])('is that of the revisions whose traffic it takes over: %s', async (_name, strategy) => {
    const deployment = await bed.serving();
    const { id } = await bed.revision(deployment, 1);
    bed.neighbours.capacityRequests.length = 0;
    expect(await bed.finish(await bed.rollout(deployment, { spec: spec('next'), strategy }))).toMatchObject({
      status: 'succeeded',
    });
    const takesOver = { revisionIds: [id], areStopped: false };
    expect(await takenOver(deployment, 2)).toEqual(takesOver);
    expect(bed.neighbours.capacityRequests.map((asked) => asked.takesOver)).toEqual([takesOver]);
  });

  it('is its own if it takes no traffic', async () => {
    const deployment = await bed.serving();
    bed.neighbours.capacityRequests.length = 0;
    await bed.finish(await bed.rollout(deployment, { spec: spec('next'), strategy: { type: 'candidate' } }));
    expect(await takenOver(deployment, 2)).toBeUndefined();
    expect(bed.neighbours.capacityRequests.map((asked) => asked.takesOver)).toEqual([undefined]);
  });

  it('for a rollback is that of the revision it leaves', async () => {
    const deployment = await bed.serving(2);
    const { id } = await bed.revision(deployment, 2);
    await bed.finish(await bed.rollback(deployment));
    expect(await takenOver(deployment, 1)).toEqual({ revisionIds: [id], areStopped: false });
  });

  it('for a recreate is that of the revisions it stops, in the rehearsal too', async () => {
    const deployment = await bed.serving();
    const { id } = await bed.revision(deployment, 1);
    bed.neighbours.capacity = { total: 1, others: 0 };
    bed.neighbours.capacityRequests.length = 0;
    const strategy = { ...canary(100), type: 'recreate' as const, hold_seconds: 30 };
    const takesOver = { revisionIds: [id], areStopped: true };
    try {
      const body = { spec: spec('next'), strategy };
      const operation = await bed.rollout(deployment, body);
      expect(bed.neighbours.capacityRequests.at(-1)?.takesOver).toEqual(takesOver);
      await bed.begin(operation);
      expect(bed.neighbours.capacityRequests.at(-1)?.takesOver).toEqual(takesOver);
      bed.neighbours.statuses.set(id, { ready: 0, alive: 0 });
      await bed.finish(operation);
      expect(await takenOver(deployment, 2)).toEqual(takesOver);
    } finally {
      bed.neighbours.capacity = undefined;
      bed.neighbours.statuses.clear();
    }
  });

  it('is what the rehearsal shows and what counts for the quota', async () => {
    bed.neighbours.replicas = 3;
    try {
      const rehearsed = await bed.rehearse(await bed.serving(), { spec: spec('next'), strategy: IMMEDIATE });
      expect(rehearsed).toMatchObject({ body: { capacity: { needed: 3 } } });
    } finally {
      bed.neighbours.replicas = undefined;
    }
  });
});

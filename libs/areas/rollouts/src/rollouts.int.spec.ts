import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canary, IMMEDIATE, RolloutsBed, spec } from '../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const key = (text: string, fingerprint = 'same') => ({ method: 'POST', path: '/rollouts', key: text, fingerprint });

describe('accepting', () => {
  it('writes the candidate, takes the traffic and names what it found', async () => {
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

  it('adopts its operation where the request comes again, and writes nothing more', async () => {
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

  it('uses the revision that already has this spec, but never one that failed', async () => {
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

  it('is refused for another active revision than the client believes in, and for none', async () => {
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

  it('is refused for what no target runs, naming the field where it stands in the body', async () => {
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

  it("takes the deployment's strategy where the request has none", async () => {
    const deployment = await bed.serving(1, { defaultStrategy: canary(30, 100) });
    const { operation } = await bed.ask(deployment, { spec: spec('next') });
    expect(operation.steps.map((step: any) => step.name)).toContain('shift_traffic:2');
    expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
    expect(bed.neighbours.routeChanges[0]?.targets.map(({ weight }) => weight)).toEqual([70, 30]);
  });
});

describe('a retry', () => {
  const failed = async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: IMMEDIATE });
    const candidate = await bed.revision(deployment, 2);
    bed.neighbours.statuses.set(candidate.id, { ready: 0 });
    await bed.drive(id);
    await bed.age(id, 601);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed' });
    return { deployment, id, candidate };
  };

  it('goes on where it failed, as the owner of the traffic', async () => {
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

  it('puts back what it finds now, should it fail again', async () => {
    const { deployment, id } = await failed();
    await bed.finish(await bed.rollout(deployment, { spec: spec('between'), strategy: IMMEDIATE }));
    await bed.retry(id);
    const [row] = await bed.sql('select input from operations where id = $1', [id]);
    expect(row.input).toMatchObject({
      foundRoute: { targets: [{ revisionName: `${deployment.name}-00003`, weight: 100 }] },
      foundActiveRevisionId: (await bed.revision(deployment, 3)).id,
    });
  });

  it('is refused beside another operation', async () => {
    const { deployment, id } = await failed();
    await bed.rollout(deployment, { spec: spec('between') });
    await expect(bed.retry(id)).rejects.toMatchObject({ code: 'operation_in_progress' });
    expect((await bed.record(id))['status']).toBe('failed');
  });
});

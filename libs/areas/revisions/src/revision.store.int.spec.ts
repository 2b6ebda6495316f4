import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Tx } from '@slipway/platform-database';
import type { Deployment, Revision, RevisionState } from '@slipway/ports';
import { ACTOR, RevisionsBed, spec } from '../test/revisions-bed.js';

let bed: RevisionsBed;

beforeAll(async () => {
  bed = await RevisionsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const write = <R>(work: (tx: Tx) => Promise<R>) => bed.database.tx('system', work);
/** So many revisions that nobody has rolled out. */
async function written(count: number, more: Partial<Deployment> = {}) {
  const deployment = bed.deployment(more);
  const revisions: Revision[] = [];
  for (let number = 1; number <= count; number += 1)
    revisions.push(
      await write((tx) =>
        bed.store.insert(tx, {
          deployment,
          spec: { ...spec(`m-${number}`), scaling: { min_replicas: 1 } } as unknown as Revision['spec'],
          specDigest: `digest-${number}`,
          source: { kind: 'import', operation_id: null, plan_id: null, base_revision: null },
          changeRef: null,
          createdBy: ACTOR,
        }),
      ),
    );
  return { deployment, revisions };
}
const activate = (deployment: Deployment, revision: Revision, leftByRollback?: string) =>
  write((tx) =>
    bed.store.activated(tx, {
      deploymentId: deployment.id,
      revisionId: revision.id,
      operationId: null,
      leftByRollback,
    }),
  );
const set = (revision: Revision, state: RevisionState, from?: RevisionState[]) =>
  write((tx) => bed.store.setState(tx, revision.id, state, { from }));

it('numbers revisions from 1 in each deployment, and finds one by id, name or number there only', async () => {
  const { deployment, revisions } = await written(2);
  const other = await written(1);
  expect(revisions.map(({ number, name }) => [number, name])).toEqual([
    [1, `${deployment.name}-00001`],
    [2, `${deployment.name}-00002`],
  ]);
  for (const reference of [revisions[1]!.id, revisions[1]!.name, '2'])
    expect(await bed.revision(deployment, reference)).toEqual(revisions[1]);
  for (const reference of [other.revisions[0]!.id, other.revisions[0]!.name, '3'])
    await expect(bed.revision(deployment, reference)).rejects.toMatchObject({ code: 'revision_not_found' });
});

describe('an activation', () => {
  it('is logged once, however often the same revision is activated in a row', async () => {
    const { deployment, revisions } = await written(2);
    const [one, two] = revisions as [Revision, Revision];
    for (const revision of [one, one, two, two, one]) await activate(deployment, revision);
    expect(await bed.activations(deployment)).toEqual(['1', '2', '1']);
    expect(await bed.states(deployment)).toEqual(['active', 'standby']);
    expect(deployment).toMatchObject({ activeRevisionId: one.id, previousRevisionId: two.id });
  });

  it('makes standby of the active one only, and never brings a failed one back', async () => {
    const { deployment, revisions } = await written(3);
    const [one, two, three] = revisions as [Revision, Revision, Revision];
    await activate(deployment, one);
    await set(three, 'failed');
    await activate(deployment, two);
    expect(await bed.states(deployment)).toEqual(['standby', 'active', 'failed']);
    await activate(deployment, three);
    expect(await bed.states(deployment)).toEqual(['standby', 'standby', 'failed']);
  });

  it('leaves other deployments alone', async () => {
    const [first, second] = [await written(1), await written(1)];
    await activate(first.deployment, first.revisions[0]!);
    await activate(second.deployment, second.revisions[0]!);
    expect([await bed.states(first.deployment), await bed.states(second.deployment)]).toEqual([['active'], ['active']]);
  });

  it('marks what a rollback left, at every place in the log', async () => {
    const { deployment, revisions } = await written(3);
    const [one, two, three] = revisions as [Revision, Revision, Revision];
    for (const revision of [two, one, two]) await activate(deployment, revision);
    await activate(deployment, one, two.id);
    expect(await bed.activations(deployment)).toEqual(['2 left', '1', '2 left', '1']);
    expect(deployment).toMatchObject({ activeRevisionId: one.id, previousRevisionId: null });
    await activate(deployment, three);
    expect(deployment.previousRevisionId).toBe(one.id);
  });
});

describe('a state', () => {
  it('moves only from where it may, and tells whether it has moved', async () => {
    const { revisions } = await written(1);
    const [one] = revisions as [Revision];
    expect(await set(one, 'ready', ['provisioning'])).toBeUndefined();
    expect(await set(one, 'provisioning', ['pending'])).toMatchObject({ state: 'provisioning' });
    expect(await set(one, 'provisioning')).toBeUndefined();
    expect(await set(one, 'failed')).toMatchObject({ state: 'failed' });
    // Out of `failed` leads only what says so.
    expect(await set(one, 'ready')).toBeUndefined();
    expect(await set(one, 'pending', ['failed'])).toMatchObject({ state: 'pending' });
  });

  it('keeps when it was ready first', async () => {
    const { revisions } = await written(1);
    const [one] = revisions as [Revision];
    const readyAt = async () => (await bed.sql('select ready_at from revisions where id = $1', [one.id]))[0].ready_at;
    await set(one, 'provisioning');
    expect(await readyAt()).toBeNull();
    await set(one, 'ready');
    const first = await readyAt();
    expect(first).toBeInstanceOf(Date);
    await set(one, 'standby');
    await set(one, 'ready');
    expect(await readyAt()).toEqual(first);
  });

  it('retires with an event what has stopped, but not what has all traffic or has failed', async () => {
    const { deployment, revisions } = await written(3);
    const [one, two, three] = revisions as [Revision, Revision, Revision];
    await activate(deployment, one);
    await set(three, 'failed');
    for (const { id } of revisions) await write((tx) => bed.store.retired(tx, id));
    await write((tx) => bed.store.retired(tx, two.id));
    expect(await bed.states(deployment)).toEqual(['active', 'retired', 'failed']);
    expect(await bed.events(deployment, 'revision.retired')).toMatchObject([{ revision: two.name, number: 2 }]);
  });
});

describe('collection', () => {
  /** Five revisions that are retired, or that have failed, and that nothing refers to. */
  const surplus = async (more: Partial<Deployment> = {}) => {
    const made = await written(5, { revisionHistoryLimit: 2, ...more });
    for (const revision of made.revisions) await set(revision, revision.number === 3 ? 'failed' : 'retired');
    return made;
  };
  const left = async (deployment: Deployment) => {
    await bed.collect();
    const rows = await bed.sql('select number from revisions where deployment_id = $1 order by number', [
      deployment.id,
    ]);
    return rows.map(({ number }) => number as number);
  };

  it('keeps the newest of what nothing refers to', async () => {
    const { deployment } = await surplus();
    expect(await left(deployment)).toEqual([4, 5]);
    expect(await left(deployment)).toEqual([4, 5]);
  });

  it.each<[string, (made: Awaited<ReturnType<typeof surplus>>) => unknown, number[]]>([
    ['active', ({ deployment, revisions }) => (deployment.activeRevisionId = revisions[0]!.id), [1, 4, 5]],
    ['previous', ({ deployment, revisions }) => (deployment.previousRevisionId = revisions[0]!.id), [1, 4, 5]],
    ['candidate', ({ deployment, revisions }) => (deployment.candidateRevisionId = revisions[0]!.id), [1, 4, 5]],
    ['bound to a product', ({ revisions }) => bed.neighbours.pinned.add(revisions[0]!.id), [1, 4, 5]],
    [
      'named by the route, without a share of the traffic too',
      ({ deployment, revisions }) =>
        bed.neighbours.routes.set(deployment.id, {
          deploymentId: deployment.id,
          generation: 1,
          affinity: { mode: 'soft', ttlSeconds: 600 },
          targets: [{ revisionId: revisions[0]!.id, revisionName: revisions[0]!.name, weight: 0 }],
        }),
      [1, 4, 5],
    ],
    [
      'among the last that had all traffic',
      ({ deployment, revisions }) =>
        bed.sql(
          `insert into revision_activations (tenant_id, deployment_id, revision_id) select 'ten_a', $1, id from unnest($2::text[]) as id`,
          [deployment.id, [revisions[3]!.id, revisions[0]!.id, revisions[1]!.id]],
        ),
      [1, 2, 4, 5],
    ],
    [
      'of a deployment with a live operation',
      ({ deployment }) => (deployment.currentOperationId = 'op_1'),
      [1, 2, 3, 4, 5],
    ],
    [
      'serving',
      ({ revisions }) => bed.sql(`update revisions set state = 'standby' where id = $1`, [revisions[0]!.id]),
      [1, 4, 5],
    ],
  ])('keeps what is %s', async (_what, refer, expected) => {
    const made = await surplus();
    await refer(made);
    expect(await left(made.deployment)).toEqual(expected);
  });
});

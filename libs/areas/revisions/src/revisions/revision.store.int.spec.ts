import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RevisionState } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import { RevisionsBed } from '../../test/revisions/revisions-bed.js';

let bed: RevisionsBed;

beforeAll(async () => {
  bed = await RevisionsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

const write = <R>(work: (tx: Tx) => Promise<R>) => bed.database.tx('system', work);
/** Writes this many revisions without a rollout. */
async function written(count: number, part: Partial<Revision['spec']> = {}) {
  const deployment = bed.deployment();
  const revisions: Revision[] = [];
  for (let number = 1; number <= count; number += 1)
    revisions.push(
      await write(async (tx) => {
        const specDigest = `digest-${number}`;
        const { next } = await bed.store.withDigest(tx, deployment.id, specDigest);
        return bed.store.create(tx, {
          deployment,
          number: next,
          spec: { model: { id: `m-${number}` }, ...part } as Revision['spec'],
          specDigest,
          source: { kind: 'import', operation_id: null, plan_id: null, base_revision: null },
          changeRef: null,
          createdBy: { type: 'token', id: 'tok_1' },
        });
      }),
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

it('shows the name, the scaling and the devices of a revision, without the rest of its spec', async () => {
  const scaling = { min_replicas: 2 };
  const resources = { accelerator: 'nvidia-l4', count: 2 };
  const started = { target: 'gpu', engine: 'vllm', args: { n: 1 }, env: { KEY: 'x' } };
  const [one] = (await written(1, { scaling, resources, runtime: started })).revisions;
  const [other] = (await written(1, { scaling, runtime: { target: 'adopted', args: {}, env: {} } })).revisions;
  const shown = await write((tx) => bed.store.shown(tx, [one!.id, other!.id, 'rev_none']));
  expect(shown.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    { id: one!.id, name: one!.name, scaling, resources, runtime: { target: 'gpu', engine: 'vllm' } },
    { id: other!.id, name: other!.name, scaling, resources: null, runtime: { target: 'adopted' } },
  ]);
});

it('numbers revisions from 1 in each deployment, and finds one by id, name or number only there', async () => {
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

it('lists all revisions of a deployment, any number of them, including retired and failed ones', async () => {
  const { deployment, revisions } = await written(205);
  await written(1);
  await set(revisions[0]!, 'retired');
  await set(revisions[1]!, 'failed');
  const ids = await write((tx) => bed.store.idsOf(tx, deployment.id));
  expect([...ids].sort()).toEqual(revisions.map(({ id }) => id).sort());
  const names = await write((tx) => bed.store.namesOf(tx, deployment.id));
  expect(names).toEqual(revisions.map(({ id, name }) => ({ id, name })).reverse());
});

describe('an activation', () => {
  it('is logged once if the same revision is activated repeatedly', async () => {
    const { deployment, revisions } = await written(2);
    const [one, two] = revisions as [Revision, Revision];
    for (const revision of [one, one, two, two, one]) await activate(deployment, revision);
    expect(await bed.activations(deployment)).toEqual(['1', '2', '1']);
    expect(await bed.states(deployment)).toEqual(['active', 'standby']);
    expect(deployment).toMatchObject({ activeRevisionId: one.id, previousRevisionId: two.id });
  });

  it('has a time, and the last one of each deployment is known', async () => {
    const { deployment, revisions } = await written(2);
    const { deployment: other } = await written(1);
    const last = () => write(async (tx) => bed.store.lastActivations(tx, [deployment.id, other.id]));
    expect(await last()).toEqual(new Map());
    for (const revision of revisions) await activate(deployment, revision);
    const [newest] = await bed.database.read<{ at: Date }>(
      'system',
      'select activated_at as at from revision_activations where deployment_id = $1 order by id desc limit 1',
      [deployment.id],
    );
    expect(await last()).toEqual(new Map([[deployment.id, newest!.at.toISOString()]]));
  });

  it('moves only the active revision to standby, and never restores a failed one', async () => {
    const { deployment, revisions } = await written(3);
    const [one, two, three] = revisions as [Revision, Revision, Revision];
    await activate(deployment, one);
    await set(three, 'failed');
    await activate(deployment, two);
    expect(await bed.states(deployment)).toEqual(['standby', 'active', 'failed']);
    await activate(deployment, three);
    expect(await bed.states(deployment)).toEqual(['standby', 'standby', 'failed']);
  });

  it('does not change other deployments', async () => {
    const [first, second] = [await written(1), await written(1)];
    await activate(first.deployment, first.revisions[0]!);
    await activate(second.deployment, second.revisions[0]!);
    expect([await bed.states(first.deployment), await bed.states(second.deployment)]).toEqual([['active'], ['active']]);
  });

  it('marks all entries of a revision that a rollback left in the log', async () => {
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

describe('the state of a revision', () => {
  it('changes only from an allowed state, and the store returns whether it changed', async () => {
    const { revisions } = await written(1);
    const [one] = revisions as [Revision];
    expect(await set(one, 'ready', ['provisioning'])).toBeUndefined();
    expect(await set(one, 'provisioning', ['pending'])).toMatchObject({ state: 'provisioning' });
    expect(await set(one, 'provisioning')).toBeUndefined();
    expect(await set(one, 'failed')).toMatchObject({ state: 'failed' });
    // A revision leaves `failed` only if the caller names that state.
    expect(await set(one, 'ready')).toBeUndefined();
    expect(await set(one, 'pending', ['failed'])).toMatchObject({ state: 'pending' });
  });

  it('keeps the time when the revision was first ready', async () => {
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

  it('becomes retired with an event after a stop, unless the revision has all traffic or has failed', async () => {
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

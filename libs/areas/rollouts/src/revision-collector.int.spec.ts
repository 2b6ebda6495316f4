import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import { ACTOR, RolloutsBed, spec } from '../test/rollouts-bed.js';
import { completeSpec } from './acceptance.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
}, 60_000);
afterAll(() => bed?.stop());

describe('revision history', () => {
  /** Five revisions, retired or failed, without any reference to them. */
  const surplus = async (more: Partial<Deployment> = {}) => {
    const deployment = bed.deployment({ revisionHistoryLimit: 2, ...more });
    const revisions = await bed.database.tx('system', async (tx) => {
      const written: Revision[] = [];
      for (let number = 1; number <= 5; number += 1) {
        const revision = await bed.revisions.create(tx, {
          deployment,
          number,
          spec: completeSpec(spec(`m-${number}`)),
          specDigest: `digest-${number}`,
          source: { kind: 'import', operation_id: null, plan_id: null, base_revision: null },
          changeRef: null,
          createdBy: ACTOR,
        });
        await bed.revisions.setState(tx, revision.id, number === 3 ? 'failed' : 'retired');
        written.push(revision);
      }
      return written;
    });
    return { deployment, revisions };
  };
  const left = async (deployment: Deployment) => {
    await bed.collect();
    const rows = await bed.sql('select number from revisions where deployment_id = $1 order by number', [
      deployment.id,
    ]);
    return rows.map(({ number }) => number as number);
  };

  it('keeps the newest revisions without a reference', async () => {
    const { deployment } = await surplus();
    expect(await left(deployment)).toEqual([4, 5]);
    expect(await left(deployment)).toEqual([4, 5]);
  });

  it('keeps fewer as soon as the limit is lowered', async () => {
    const { deployment } = await surplus({ revisionHistoryLimit: 4 });
    expect(await left(deployment)).toEqual([2, 3, 4, 5]);
    deployment.revisionHistoryLimit = 1;
    expect(await left(deployment)).toEqual([5]);
  });

  it.each<[string, (made: Awaited<ReturnType<typeof surplus>>) => unknown, number[]]>([
    ['active', ({ deployment, revisions }) => (deployment.activeRevisionId = revisions[0]!.id), [1, 4, 5]],
    ['previous', ({ deployment, revisions }) => (deployment.previousRevisionId = revisions[0]!.id), [1, 4, 5]],
    ['candidate', ({ deployment, revisions }) => (deployment.candidateRevisionId = revisions[0]!.id), [1, 4, 5]],
    [
      'bound to a product',
      ({ revisions }) => bed.database.tx('system', (tx) => bed.revisions.pin(tx, revisions[0]!.id, 'binding:pb_1')),
      [1, 4, 5],
    ],
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
  ])('keeps a revision that is %s', async (_what, refer, expected) => {
    const made = await surplus();
    await refer(made);
    expect(await left(made.deployment)).toEqual(expected);
  });

  it('deletes the last revision of a deployment that is deleted, unless it is bound to a product', async () => {
    const [last, bound] = [await surplus({ revisionHistoryLimit: 1 }), await surplus({ revisionHistoryLimit: 1 })];
    expect(await left(last.deployment)).toEqual([5]);
    await bed.database.tx('system', (tx) => bed.revisions.pin(tx, bound.revisions[4]!.id, 'binding:pb_1'));
    for (const { deployment } of [last, bound]) bed.neighbours.deployments.delete(deployment.id);
    expect(await left(last.deployment)).toEqual([]);
    expect(await left(bound.deployment)).toEqual([5]);
  });
});

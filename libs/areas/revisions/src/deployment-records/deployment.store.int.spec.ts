import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ANY_MEDIA_URL } from '@slipway/contracts';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import type { Tx } from '@slipway/platform-database';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import { DeploymentStore } from './deployment.store.js';
import { migrations } from './index.js';

const ACTOR = { type: 'token', id: 'tok_2' } as const;

let bed: DatabaseBed;
let store: DeploymentStore;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...platformMigrations, ...migrations], providers: [DeploymentStore] });
  store = bed.module.get(DeploymentStore);
}, 60_000);
afterAll(() => bed?.stop());

it('returns a new deployment as it is stored', async () => {
  const made = await bed.database.tx({ tenantId: 'ten_a' }, (tx) =>
    store.create(tx, {
      tenantId: 'ten_a',
      name: 'chat',
      displayName: null,
      description: 'for people',
      labels: { team: 'search', a: 'b' },
      environment: null,
      defaultStrategy: { type: 'canary', steps: [{ traffic_percent: 10, soak_seconds: undefined }] },
      defaultAnalysis: { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 0.1 }] },
      revisionHistoryLimit: 3,
      protection: { deletion: true, rollouts: 'any' },
      scaling: null,
      drainSeconds: 900,
      mediaUrls: { allow: 'hosts', hosts: ['a.example'] },
      createdBy: { type: 'token', id: 'tok_1' },
    }),
  );
  const stored = await bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.record(tx, 'ten_a', 'chat'));
  expect({ ...made }).toStrictEqual({ ...stored });
});

it('reads scaling overrides from a row that the transaction has locked, and again after a change', async () => {
  await bed.database.tx({ tenantId: 'ten_a' }, async (tx) => {
    const { id } = await store.lock(tx, 'ten_a', 'chat');
    const read = jest.spyOn(tx, 'repository');
    expect([...(await store.scalingOverrides(tx, [id]))]).toEqual([]);
    expect(read).not.toHaveBeenCalled();
    const { version: _, ...settings } = await store.record(tx, 'ten_a', 'chat');
    await store.configure(tx, id, { ...settings, scaling: { min_replicas: 2 } }, ACTOR);
    expect([...(await store.scalingOverrides(tx, [id]))]).toEqual([[id, { min_replicas: 2 }]]);
    expect(await store.record(tx, 'ten_a', 'chat')).toMatchObject({ createdBy: { id: 'tok_1' }, updatedBy: ACTOR });
    await store.lock(tx, 'ten_a', 'chat');
    read.mockClear();
    expect([...(await store.scalingOverrides(tx, [id]))]).toEqual([[id, { min_replicas: 2 }]]);
    expect(read).not.toHaveBeenCalled();
    // Another deployment is not among the locked rows.
    expect([...(await store.scalingOverrides(tx, [id, 'dep_other']))]).toEqual([[id, { min_replicas: 2 }]]);
    expect(read).toHaveBeenCalled();
  });
});

it('counts the hosts of media URLs in a page of the list, and forgets them with the deployment', async () => {
  const tenantId = 'ten_media';
  const hosts = Array.from({ length: 40_000 }, (_, n) => `images-${n}.media.example.com`);
  const add = async (tx: Tx, name: string) =>
    (
      await store.create(tx, {
        tenantId,
        name,
        displayName: null,
        description: null,
        labels: {},
        environment: null,
        defaultStrategy: null,
        defaultAnalysis: null,
        revisionHistoryLimit: 3,
        protection: { deletion: false, rollouts: 'any' },
        scaling: null,
        drainSeconds: 600,
        mediaUrls: { allow: 'hosts', hosts },
        createdBy: ACTOR,
      })
    ).id;
  const id = await bed.database.tx({ tenantId }, async (tx) => (await add(tx, 'one'), add(tx, 'two')));
  const page = await bed.database.tx({ tenantId }, (tx) => store.newest(tx, tenantId, undefined, 10));
  expect(page).toMatchObject({ rows: [{ id }], hasMore: true });
  await bed.database.tx({ tenantId }, (tx) => store.remove(tx, id));
  const rows = await bed.database.tx('system', (tx) =>
    tx.query('select media_urls from deployments where id = $1', [id]),
  );
  expect(rows).toEqual([{ media_urls: ANY_MEDIA_URL }]);
});

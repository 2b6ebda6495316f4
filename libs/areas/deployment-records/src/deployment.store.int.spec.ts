import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { platformMigrations } from '@slipway/platform-testing';
import { DeploymentStore } from './deployment.store.js';
import { migrations } from './index.js';

let bed: DatabaseBed;
let store: DeploymentStore;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...platformMigrations, ...migrations], providers: [DeploymentStore] });
  store = bed.module.get(DeploymentStore);
}, 60_000);
afterAll(() => bed?.stop());

it('hands out a new deployment as it is stored', async () => {
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
      createdBy: { type: 'token', id: 'tok_1' },
    }),
  );
  const stored = await bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.record(tx, 'ten_a', 'chat'));
  expect({ ...made }).toStrictEqual({ ...stored });
});

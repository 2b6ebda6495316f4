import { expect, it } from '@jest/globals';
import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import {
  publishBackend,
  publishRoute,
  publishSlug,
  readEntries,
  readVersions,
  StaleGenerationError,
  unpublishRoute,
  withdrawBackend,
  withdrawSlug,
  type EntryVersion,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;

const affinity = { mode: 'soft', ttl_seconds: 600 } as const;
const route = { tenantId: 'ten', deploymentId: 'dep', deploymentName: 'chat', affinity };
const target = (revisionId: string, weight: number) => ({ revisionId, revisionName: `${revisionId}-name`, weight });
const backend = {
  revisionId: 'rev',
  revisionName: 'chat-1',
  tenantId: 'ten',
  deploymentId: 'dep',
  modelId: 'm',
  instances: [],
  credential: null,
  guard: null,
};
const slug = {
  slug: 'acme/chat',
  tenantId: 'ten',
  productId: 'prd',
  bindings: [],
  audience: { visibility: 'shared' as const, tenants: [] },
};
const keys = { routes: [], backends: [], slugs: [], passports: [] };

async function versionOf(kind: EntryVersion['kind']): Promise<number | undefined> {
  return (await readVersions(db)).find((one) => one.kind === kind)?.version;
}

it('notifies the gateways of each change of each kind, and of nothing that did not change', async () => {
  const told = await connection.heard(DATAPLANE_CHANNEL, async () => {
    await publishBackend(db, backend);
    await publishBackend(db, backend);
    await publishRoute(db, { ...route, generation: 5, targets: [target('rev', 100)] });
    await expect(publishRoute(db, { ...route, generation: 4, targets: [] })).rejects.toThrow(StaleGenerationError);
    await publishSlug(db, slug);
    await publishSlug(db, { ...slug, tenantId: 'ten_other' });
    await withdrawSlug(db, slug.slug);
    await withdrawSlug(db, slug.slug);
    await unpublishRoute(db, 'dep');
    await unpublishRoute(db, 'dep');
    await withdrawBackend(db, 'rev');
    await withdrawBackend(db, 'rev');
  });
  expect(told).toEqual([
    'backend:rev',
    'backend:rev',
    'route:dep',
    'slug:acme/chat',
    'slug:acme/chat',
    'route:dep',
    'backend:rev',
  ]);
});

it('gives a row a new version at each write, even after a withdrawal that a gateway may have missed', async () => {
  const seen = { backend: new Set<number>(), slug: new Set<number>() };
  for (let round = 0; round < 3; round += 1) {
    for (let change = 0; change < 2; change += 1) {
      await publishBackend(db, backend);
      await publishSlug(db, slug);
      seen.backend.add((await versionOf('backend')) as number);
      seen.slug.add((await versionOf('slug')) as number);
    }
    const read = await readEntries(db, { ...keys, backends: ['rev'], slugs: ['acme/chat'] });
    // The compared version equals the version that is read.
    expect(read.backends[0]?.version).toBe(await versionOf('backend'));
    expect(read.slugs[0]?.version).toBe(await versionOf('slug'));
    await withdrawBackend(db, 'rev');
    await withdrawSlug(db, 'acme/chat');
  }
  expect([seen.backend.size, seen.slug.size]).toEqual([6, 6]);
});

it('keeps a route’s slots over its generations, and publishes a deployment without a route', async () => {
  const slotsOf = async (): Promise<(string | undefined)[]> => {
    const [row] = (await readEntries(db, { ...keys, routes: ['dep'] })).routes;
    return row?.slots.map((index) => row.targets[index]?.revision_id) ?? [];
  };
  await publishRoute(db, { ...route, generation: 1, targets: [target('a', 60), target('b', 40)] });
  const before = await slotsOf();
  await publishRoute(db, { ...route, generation: 2, targets: [target('b', 50), target('a', 50)] });
  const after = await slotsOf();
  expect(after.filter((owner, slot) => owner !== before[slot])).toHaveLength(10);
  await publishRoute(db, { ...route, generation: 3, targets: [] });
  expect(await readEntries(db, { ...keys, routes: ['dep'] })).toMatchObject({
    routes: [{ deployment_id: 'dep', slots: [], targets: [], generation: 3 }],
  });
  // No slots are left to keep.
  await publishRoute(db, { ...route, generation: 4, targets: [target('c', 100)] });
  expect(await slotsOf()).toEqual(new Array(100).fill('c'));
  await unpublishRoute(db, 'dep');
});

it('reads the backends of a route’s deployment with the route, and those of no other', async () => {
  await publishBackend(db, backend);
  await publishBackend(db, { ...backend, revisionId: 'rev_2', deploymentId: 'dep_2' });
  await publishRoute(db, { ...route, generation: 1, targets: [target('rev', 100)] });
  const { routes, backends } = await readEntries(db, { ...keys, routes: ['dep'] });
  expect([routes.map((row) => row.deployment_id), backends.map((row) => row.revision_id)]).toEqual([['dep'], ['rev']]);
  expect((await readEntries(db, keys)).backends).toEqual([]);
  await unpublishRoute(db, 'dep');
});

it('a route’s hold lasts as long as its generation, and begins when that is published', async () => {
  const heldBy = async (): Promise<unknown> => (await readEntries(db, { ...keys, routes: ['dep'] })).routes[0]?.hold;
  const generation = (n: number, hold?: { max_seconds: number; estimated_seconds: number | null }) =>
    publishRoute(db, { ...route, generation: n, targets: [target('rev', 100)], ...(hold && { hold }) });
  await generation(1);
  expect(await heldBy()).toBeNull();
  const startedAt = Date.now();
  await generation(2, { max_seconds: 60, estimated_seconds: null });
  const hold = (await heldBy()) as { since: string };
  expect(hold).toEqual({ max_seconds: 60, estimated_seconds: null, since: expect.any(String) });
  // The database runs on the same machine as the test, with the same clock.
  expect(Math.abs(Date.parse(hold.since) - startedAt)).toBeLessThan(60_000);
  await generation(3);
  expect(await heldBy()).toBeNull();
  await unpublishRoute(db, 'dep');
});

it('the API path of an instance is published, if it has one', async () => {
  const at = { base_url: 'http://127.0.0.1:1', state: 'ready' as const };
  const instances = [
    { ...at, id: 'ins_1', api_path: '/openai' },
    { ...at, id: 'ins_2' },
  ];
  await publishBackend(db, { ...backend, instances });
  expect((await readEntries(db, { ...keys, backends: ['rev'] })).backends[0]?.instances).toEqual(instances);
  await withdrawBackend(db, 'rev');
});

it('an instance’s key is published as the id of a ring key and a generation, or not at all', async () => {
  const at = { base_url: 'http://127.0.0.1:1', state: 'ready' as const };
  const instances = [
    { ...at, id: 'ins_1', key: { id: 'abcd1234', generation: 3 } },
    { ...at, id: 'ins_2' },
  ];
  await publishBackend(db, { ...backend, instances });
  expect((await readEntries(db, { ...keys, backends: ['rev'] })).backends[0]?.instances).toEqual(instances);
  await withdrawBackend(db, 'rev');
});

import { expect, it } from '@jest/globals';
import {
  publishBackend,
  publishRoute,
  publishSlug,
  readVersions,
  VersionDigest,
  withdrawBackend,
  type EntryVersion,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;

const backend = (revisionId: string) => ({
  revisionId,
  revisionName: 'chat-1',
  tenantId: 'ten',
  deploymentId: 'dep',
  modelId: 'm',
  instances: [],
  credential: null,
  guard: null,
});

/** Returns the digests of a gateway that has read all of this. */
function digestsOf(versions: readonly EntryVersion[]) {
  const digests = { route: new VersionDigest(), backend: new VersionDigest(), slug: new VersionDigest() };
  for (const { kind, version } of versions) if (kind !== 'passport' && kind !== 'same') digests[kind].add(version);
  return digests;
}

const same = (...kinds: ('route' | 'backend' | 'slug')[]) => kinds.map((id) => ({ kind: 'same', id, version: 0 }));

it('lists no rows of a kind that the caller has unchanged, and all rows of a kind with any change', async () => {
  expect(await readVersions(db, digestsOf([]))).toEqual(same('route', 'backend', 'slug'));
  expect(await readVersions(db)).toEqual([]);

  await publishBackend(db, backend('rev_1'));
  await publishBackend(db, backend('rev_2'));
  const affinity = { mode: 'none', ttl_seconds: 60 } as const;
  const route = { tenantId: 'ten', deploymentId: 'dep', deploymentName: 'chat', generation: 1, targets: [], affinity };
  await publishRoute(db, route);
  const audience = { visibility: 'shared' as const, tenants: [] };
  await publishSlug(db, { slug: 'acme/chat', tenantId: 'ten', productId: 'prd', bindings: [], audience });
  const all = await readVersions(db);
  expect(all.map(({ id }) => id).sort()).toEqual(['acme/chat', 'dep', 'rev_1', 'rev_2']);
  expect(await readVersions(db, digestsOf(all))).toEqual(same('route', 'backend', 'slug'));

  await publishBackend(db, backend('rev_2'));
  const changed = await readVersions(db, digestsOf(all));
  expect(
    changed
      .filter(({ kind }) => kind !== 'same')
      .map(({ id }) => id)
      .sort(),
  ).toEqual(['rev_1', 'rev_2']);
  expect(changed).toEqual(expect.arrayContaining(same('route', 'slug')));

  const before = digestsOf(await readVersions(db));
  await withdrawBackend(db, 'rev_1');
  expect((await readVersions(db, before)).filter(({ kind }) => kind !== 'same')).toMatchObject([{ id: 'rev_2' }]);
  // A caller with an empty digest gets all rows.
  expect(await readVersions(db, { ...before, slug: new VersionDigest() })).toEqual(
    expect.arrayContaining([{ kind: 'slug', id: 'acme/chat', version: expect.any(Number) }]),
  );
});

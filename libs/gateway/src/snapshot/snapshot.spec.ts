import { beforeEach, expect, it } from '@jest/globals';
import {
  VersionDigest,
  type BackendRow,
  type Entries,
  type EntryKeys,
  type PublishedRow,
  type RouteRow,
} from '@slipway/dataplane';
import { Snapshot } from './snapshot.js';

let heard: string[];
let snapshot: Snapshot;

beforeEach(() => {
  heard = [];
  snapshot = new Snapshot({
    onBackend: (row) => heard.push(`backend ${row.revision_id} v${row.version}`),
    onBackendGone: (id) => heard.push(`no backend ${id}, routes: ${[...snapshot.routes.keys()].join()}`),
    onSlug: (row) => heard.push(`slug ${row.slug} v${row.version}`),
    onSlugGone: (slug) => heard.push(`no slug ${slug}`),
    onRoute: (route) => heard.push(`route ${route.deployment_id} g${route.generation}`),
    onRouteGone: (id) => heard.push(`no route ${id}`),
    onPassportRevoked: (id) => heard.push(`revoked ${id}`),
  });
});

const route = (id: string, generation: number, name = `name-of-${id}`): RouteRow => ({
  deployment_id: id,
  tenant_id: 'ten',
  deployment_name: name,
  generation,
  version: generation,
  slots: [0, 1, 0],
  targets: [],
  affinity: { mode: 'soft', ttl_seconds: 60 },
  created_at: '2026-01-01T00:00:00Z',
});
const backend = (id: string, version: number): BackendRow => ({
  revision_id: id,
  tenant_id: 'ten',
  deployment_id: 'dep',
  revision_name: id,
  model_id: 'm',
  instances: [],
  credential: null,
  guard: null,
  version,
});
const slug = (name: string, version: number): PublishedRow => ({
  slug: name,
  tenant_id: 'ten',
  product_id: 'prd',
  bindings: [],
  audience: { visibility: 'shared', tenants: [] },
  version,
  created_at: '2026-01-01T00:00:00Z',
});

const keys = (some: Partial<EntryKeys>): EntryKeys => ({ routes: [], backends: [], slugs: [], passports: [], ...some });
const apply = (asked: Partial<EntryKeys>, found: Partial<Entries> = {}): boolean =>
  snapshot.apply(keys(asked), { routes: [], backends: [], slugs: [], revokedPassports: [], ...found });

it('takes a route’s backends before the route, and removes them after it', () => {
  apply({ routes: ['dep'] }, { routes: [route('dep', 1)], backends: [backend('rev', 1)] });
  expect(heard.splice(0)).toEqual(['backend rev v1', 'route dep g1']);
  apply({ routes: ['dep'], backends: ['rev'] });
  expect(heard).toEqual(['no route dep', 'no backend rev, routes: ']);
  expect([snapshot.routeByName('ten', 'name-of-dep'), snapshot.backends.size]).toEqual([undefined, 0]);
});

it('lists the keys that differ in either direction, and its own keys that are gone', () => {
  apply(
    { routes: ['dep'], backends: ['rev'], slugs: ['a/b'], passports: ['cp'] },
    { routes: [route('dep', 5)], backends: [backend('rev', 5)], slugs: [slug('a/b', 5)], revokedPassports: ['cp'] },
  );
  const same = [
    { kind: 'route', id: 'dep', version: 5 },
    { kind: 'backend', id: 'rev', version: 5 },
    { kind: 'slug', id: 'a/b', version: 5 },
    { kind: 'passport', id: 'cp', version: 1 },
  ] as const;
  expect(snapshot.differences(same)).toEqual(keys({}));
  const all = keys({ routes: ['dep'], backends: ['rev'], slugs: ['a/b'], passports: ['cp'] });
  expect(snapshot.differences([])).toEqual(all);
  for (const version of [4, 6])
    expect(snapshot.differences(same.slice(0, 3).map((one) => ({ ...one, version })))).toEqual(all);
  expect(snapshot.differences([...same, { kind: 'passport', id: 'cp_2', version: 1 }])).toEqual(
    keys({ passports: ['cp_2'] }),
  );
});

it('takes each changed row, drops each key without a row, and reports whether anything changed', () => {
  expect(apply({ slugs: ['a/b'], backends: ['rev'] }, { slugs: [slug('a/b', 1)], backends: [backend('rev', 1)] })).toBe(
    true,
  );
  expect(apply({ slugs: ['a/b'], backends: ['rev'] }, { slugs: [slug('a/b', 1)], backends: [backend('rev', 1)] })).toBe(
    false,
  );
  expect(apply({ slugs: ['a/b'] }, { slugs: [slug('a/b', 2)] })).toBe(true);
  expect(apply({ backends: ['rev'] }, { backends: [backend('rev', 2)] })).toBe(true);
  expect(apply({ slugs: ['a/b', 'never/seen'] })).toBe(true);
  expect(apply({ slugs: ['a/b'], routes: ['never-seen'], backends: ['never-seen'] })).toBe(false);
  expect(heard).toEqual(['backend rev v1', 'slug a/b v1', 'slug a/b v2', 'backend rev v2', 'no slug a/b']);
});

it('finds a deployment by its current name only, and a reused name at its new deployment', () => {
  apply({}, { routes: [route('old', 1, 'chat'), route('other', 1, 'before')] });
  apply({}, { routes: [route('other', 2, 'after')] });
  expect(snapshot.routeByName('ten', 'before')).toBeUndefined();
  expect(snapshot.routeByName('ten', 'after')?.generation).toBe(2);
  expect([...(snapshot.routeByName('ten', 'after')?.slotTable ?? [])]).toEqual([0, 1, 0]);
  // Deleted and created again under its name, both read at once.
  apply({ routes: ['old', 'new'] }, { routes: [route('new', 1, 'chat')] });
  expect(snapshot.routeByName('ten', 'chat')?.deployment_id).toBe('new');
  expect(snapshot.routeByName('other tenant', 'chat')).toBeUndefined();
});

it('reports a revocation once, and forgets one that was withdrawn', () => {
  expect(apply({ passports: ['cp_1', 'cp_2'] }, { revokedPassports: ['cp_1', 'cp_2'] })).toBe(true);
  expect(apply({ passports: ['cp_1'] }, { revokedPassports: ['cp_1'] })).toBe(false);
  expect(heard).toEqual(['revoked cp_1', 'revoked cp_2']);
  // Declared again: the key was read and is no longer revoked. Keys that were not read stay.
  expect(apply({ passports: ['cp_1'] })).toBe(true);
  expect([...snapshot.revokedPassports]).toEqual(['cp_2']);
  // One is added and one removed: the number is equal, but the set has changed.
  expect(apply({ passports: ['cp_2', 'cp_3'] }, { revokedPassports: ['cp_3'] })).toBe(true);
  expect([...snapshot.revokedPassports]).toEqual(['cp_3']);
});

it('reads nothing of a kind that is reported as equal, and reads what differs of the others', () => {
  apply({}, { routes: [route('dep', 5)], backends: [backend('rev', 5)], slugs: [slug('a/b', 5)] });
  expect(
    snapshot.differences([
      { kind: 'same', id: 'route', version: 0 },
      { kind: 'same', id: 'slug', version: 0 },
      { kind: 'backend', id: 'other', version: 1 },
    ]),
  ).toEqual(keys({ backends: ['other', 'rev'] }));
});

it('has digests of the rows that it holds, whatever was added and removed', () => {
  const of = (...versions: number[]): string => {
    const digest = new VersionDigest();
    for (const version of versions) digest.add(version);
    return digest.toString();
  };
  const now = (): string[] => [snapshot.digests.route, snapshot.digests.backend, snapshot.digests.slug].map(String);
  expect(now()).toEqual([of(), of(), of()]);
  apply(
    {},
    {
      routes: [route('a', 1), route('b', 2)],
      backends: [backend('a', 3), backend('b', 4)],
      slugs: [slug('a', 5), slug('b', 6)],
    },
  );
  expect(now()).toEqual([of(1, 2), of(3, 4), of(5, 6)]);
  apply({}, { routes: [route('a', 11)], backends: [backend('a', 13)], slugs: [slug('a', 15)] });
  apply({}, { routes: [route('a', 11)], backends: [backend('a', 13)], slugs: [slug('a', 15)] });
  expect(now()).toEqual([of(2, 11), of(4, 13), of(6, 15)]);
  apply({ routes: ['b', 'c'], backends: ['b', 'c'], slugs: ['b', 'c'] });
  expect(now()).toEqual([of(11), of(13), of(15)]);
});

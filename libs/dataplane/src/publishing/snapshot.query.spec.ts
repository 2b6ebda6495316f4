import { expect, it } from '@jest/globals';
import { readEntries, type EntryKeys } from './snapshot.query.js';
import type { NamedSql, QueryClient } from '../sql.js';

/** Routes `dep_n` with their backends `rev_n`; every answer is from a later moment. */
class PublishedDatabase implements QueryClient {
  readonly asked: number[] = [];

  async query<R>(_: NamedSql, values: unknown[] = []): Promise<R[]> {
    const [routes, backends, slugs, passports] = values as [string[], string[], string[], string[]];
    this.asked.push(Math.max(routes.length, backends.length, slugs.length, passports.length));
    const version = this.asked.length;
    const own = routes.map((id) => id.replace('dep', 'rev'));
    return [
      ...routes.map((deployment_id) => ({ kind: 'route', entry: { deployment_id, version } })),
      ...[...new Set([...own, ...backends])].map((revision_id) => ({
        kind: 'backend',
        entry: { revision_id, version },
      })),
      ...slugs.map((slug) => ({ kind: 'slug', entry: { slug, version } })),
      ...passports.map((id) => ({ kind: 'passport', entry: id })),
    ] as R[];
  }
}

const NOTHING: EntryKeys = { routes: [], backends: [], slugs: [], passports: [] };
const named = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${prefix}_${at}`);

it('reads many keys in several statements, so that each is answered in time', async () => {
  const db = new PublishedDatabase();
  const keys = {
    routes: named('dep', 5),
    backends: named('other', 3),
    slugs: named('a/b', 2),
    passports: named('cp', 7),
  };
  const { routes, backends, slugs, revokedPassports } = await readEntries(db, keys, 2);
  expect(db.asked).toEqual([2, 2, 2, 1]);
  expect(routes.map((row) => row.deployment_id)).toEqual(keys.routes);
  expect(backends.map((row) => row.revision_id).sort()).toEqual([...keys.backends, ...named('rev', 5)]);
  expect(slugs.map((row) => row.slug)).toEqual(keys.slugs);
  expect(revokedPassports).toEqual(keys.passports);
});

it('reads a thousand keys in groups, because an entry may be large', async () => {
  const db = new PublishedDatabase();
  await readEntries(db, { ...NOTHING, routes: named('dep', 1_000), backends: named('rev', 1_000) });
  await readEntries(db, { ...NOTHING, backends: ['rev_1'] });
  expect(db.asked).toEqual([250, 250, 250, 250, 1]);
});

it('keeps a backend as it was when its route was read', async () => {
  const { backends } = await readEntries(
    new PublishedDatabase(),
    { ...NOTHING, routes: ['dep_0'], backends: named('x', 2).concat('rev_0') },
    1,
  );
  expect(backends.filter(({ revision_id }) => revision_id === 'rev_0')).toMatchObject([{ version: 1 }]);
});

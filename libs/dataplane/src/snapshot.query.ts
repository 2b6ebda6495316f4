import type { BackendRow, EntryKind, PublishedRow, RouteRow } from './published.js';
import type { NamedSql, Queryable } from './sql.js';

export interface EntryVersion {
  kind: EntryKind;
  id: string;
  version: number;
}

/** The rows asked for that exist; those asked for and absent are gone. */
export interface Entries {
  routes: RouteRow[];
  backends: BackendRow[];
  slugs: PublishedRow[];
  /** Revoked passports that have not expired. */
  revokedPassports: string[];
}

export interface EntryKeys {
  routes: readonly string[];
  backends: readonly string[];
  slugs: readonly string[];
  passports: readonly string[];
}

/**
 * What tells two states of a row apart: the moment it was written. Its own count of changes starts again after a withdrawal, and
 * a generation is given twice when a fail-over has lost the first: a gateway that missed that would take the new one for the old.
 */
const STAMP = `(extract(epoch from updated_at) * 1000000)::bigint`;

/** Cheap enough to ask every second: what exists and how new it is, so that only what changed is read. */
const VERSIONS: NamedSql = {
  name: 'dataplane_versions',
  text: `
    select 'route' as kind, deployment_id as id, ${STAMP}::float8 as version from dataplane_routes
    union all select 'backend', revision_id, ${STAMP}::float8 from dataplane_backends
    union all select 'slug', slug, ${STAMP}::float8 from dataplane_published
    union all select 'passport', id, 1 from dataplane_passports where revoked_at is not null and expires_at > now()`,
};

/**
 * One statement, so one moment: a route is never read beside backends of another time. The backends of a changed route's
 * deployment come with it, because both may have been published in one transaction.
 */
const ENTRIES: NamedSql = {
  name: 'dataplane_entries',
  text: `
    select 'route' as kind, to_jsonb(r) || jsonb_build_object('version', ${STAMP}) as entry from dataplane_routes r where deployment_id = any($1)
    union all select 'backend', to_jsonb(b) || jsonb_build_object('version', ${STAMP}) from dataplane_backends b where revision_id = any($2) or deployment_id = any($1)
    union all select 'slug', to_jsonb(p) || jsonb_build_object('version', ${STAMP}) from dataplane_published p where slug = any($3)
    union all select 'passport', to_jsonb(id) from dataplane_passports where id = any($4) and revoked_at is not null and expires_at > now()`,
};

export async function readVersions(db: Queryable): Promise<EntryVersion[]> {
  return db.query<EntryVersion>(VERSIONS);
}

export async function readEntries(db: Queryable, keys: EntryKeys): Promise<Entries> {
  const rows = await db.query<{ kind: EntryKind; entry: unknown }>(ENTRIES, [
    keys.routes,
    keys.backends,
    keys.slugs,
    keys.passports,
  ]);
  const of = <T>(kind: EntryKind): T[] => rows.filter((row) => row.kind === kind).map((row) => row.entry as T);
  return { routes: of('route'), backends: of('backend'), slugs: of('slug'), revokedPassports: of('passport') };
}

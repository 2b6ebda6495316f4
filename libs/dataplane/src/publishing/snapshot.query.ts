import type { BackendRow, EntryKind, PublishedRow, RouteRow } from './published.js';
import type { NamedSql, QueryClient } from '../sql.js';

/** Revoked passports are few and expire without a notification, so they are always listed. */
export type DigestedKind = Exclude<EntryKind, 'passport'>;

/**
 * A short digest of the versions of all rows of one kind, updated row by row. Versions are times in microseconds. Two
 * sets of rows with the same count, the same sum and the same exclusive or are therefore the same set.
 */
export class VersionDigest {
  private count = 0;
  private sum = 0n;
  private xor = 0n;

  add(version: number): void {
    this.count += 1;
    this.sum += whole(version);
    this.xor ^= whole(version);
  }

  remove(version: number): void {
    this.count -= 1;
    this.sum -= whole(version);
    this.xor ^= whole(version);
  }

  toString(): string {
    return `${this.count}:${this.sum}:${this.xor}`;
  }
}

/** A row that was read from a file may have no version. */
const whole = (version: number): bigint => BigInt(Math.trunc(version) || 0);

/** SQL for a digest in the format of `VersionDigest`, of a relation with a column `version`. */
const digestIn = (relation: string): string =>
  `(select count(*) || ':' || coalesce(sum(version), 0) || ':' || coalesce(bit_xor(version), 0) from ${relation})`;

/** A row. Kind `same` means that the caller has all rows of the kind `id` already. */
export type EntryVersion =
  { kind: EntryKind; id: string; version: number } | { kind: 'same'; id: DigestedKind; version: number };

/** The requested rows that exist; requested keys without a row are gone. */
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
 * Distinguishes two states of a row by the time of its write. A row's own version starts again after a withdrawal, and
 * a fail-over that lost a generation assigns it twice. A gateway that missed that would take the new row for the old
 * one.
 */
const STAMP = `(extract(epoch from updated_at) * 1000000)::bigint`;

/** Rows are bounded: at most 32 bindings, and an audience of 1,000 tenants. */
const KEYS_AT_ONCE = 250;

/**
 * Lists what exists and how new it is, so that only changes are read; every gateway runs it every second. For a kind
 * whose digest the caller has ($1 routes, $2 backends, $3 slugs), it lists no row: ten thousand unchanged rows each
 * second would be work for both ends.
 */
const READ_VERSIONS: NamedSql = {
  name: 'dataplane_versions',
  text: `
    with routes as (select deployment_id as id, ${STAMP} as version from dataplane_routes),
      backends as (select revision_id as id, ${STAMP} as version from dataplane_backends),
      slugs as (select slug as id, ${STAMP} as version from dataplane_published),
      same as materialized (
        select ${digestIn('routes')} = $1::text is true as routes, ${digestIn('backends')} = $2::text is true as backends, ${digestIn('slugs')} = $3::text is true as slugs)
    select 'route' as kind, id, version::float8 from routes where not (select routes from same)
    union all select 'backend', id, version::float8 from backends where not (select backends from same)
    union all select 'slug', id, version::float8 from slugs where not (select slugs from same)
    union all select 'same', 'route', 0 where (select routes from same)
    union all select 'same', 'backend', 0 where (select backends from same)
    union all select 'same', 'slug', 0 where (select slugs from same)
    union all select 'passport', id, 1 from dataplane_passports where revoked_at is not null and expires_at > now()`,
};

/**
 * One statement reads one moment, so a route is never read with backends of another time. The backends of a changed
 * route's deployment are read with it, because both may have been published in one transaction.
 */
const READ_ENTRIES: NamedSql = {
  name: 'dataplane_entries',
  text: `
    select 'route' as kind, to_jsonb(r) || jsonb_build_object('version', ${STAMP}) as entry from dataplane_routes r where deployment_id = any($1)
    union all select 'backend', to_jsonb(b) || jsonb_build_object('version', ${STAMP}) from dataplane_backends b where revision_id = any($2) or deployment_id = any($1)
    union all select 'slug', to_jsonb(p) || jsonb_build_object('version', ${STAMP}) from dataplane_published p where slug = any($3)
    union all select 'passport', to_jsonb(id) from dataplane_passports where id = any($4) and revoked_at is not null and expires_at > now()`,
};

/** @param known digests of the caller's rows; without them, everything is listed */
export async function readVersions(
  db: QueryClient,
  known: Partial<Readonly<Record<DigestedKind, VersionDigest>>> = {},
): Promise<EntryVersion[]> {
  const digests = [known.route, known.backend, known.slug].map((digest) => digest?.toString() ?? null);
  return db.query<EntryVersion>(READ_VERSIONS, digests);
}

/**
 * Reads a few keys at a time. Ten thousand routes in one statement would take longer than a gateway waits for an
 * answer, and it would never begin to follow. A backend that was read with its route stays as it was read then.
 */
export async function readEntries(db: QueryClient, keys: EntryKeys, atOnce = KEYS_AT_ONCE): Promise<Entries> {
  const read: Entries = { routes: [], backends: [], slugs: [], revokedPassports: [] };
  const backends = new Map<string, BackendRow>();
  const most = Math.max(1, ...Object.values(keys).map(({ length }) => length));
  for (let at = 0; at < most; at += atOnce) {
    const some = [keys.routes, keys.backends, keys.slugs, keys.passports].map((ids) => ids.slice(at, at + atOnce));
    const rows = await db.query<{ kind: EntryKind; entry: unknown }>(READ_ENTRIES, some);
    const of = <T>(kind: EntryKind): T[] => rows.filter((row) => row.kind === kind).map((row) => row.entry as T);
    read.routes.push(...of<RouteRow>('route'));
    for (const row of of<BackendRow>('backend')) if (!backends.has(row.revision_id)) backends.set(row.revision_id, row);
    read.slugs.push(...of<PublishedRow>('slug'));
    read.revokedPassports.push(...of<string>('passport'));
  }
  return { ...read, backends: [...backends.values()] };
}

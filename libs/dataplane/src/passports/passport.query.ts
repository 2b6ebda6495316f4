import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import type { RebindReason, SessionSource } from './passport.js';
import type { NamedSql, QueryClient } from '../sql.js';

/** One gateway's observations of a session since its last write. Counts are added; the rest replaces stored values. */
export interface PassportSighting {
  id: string;
  tenant_id: string;
  deployment_id: string;
  deployment_name: string;
  key_hash: string;
  source: SessionSource;
  subject: string | null;
  mode: 'none' | 'soft';
  ttl_seconds: number;
  revision_id: string | null;
  revision_name: string | null;
  instance_id: string | null;
  /** RFC 3339. */
  bound_at: string | null;
  last_seen_at: string;
  expires_at: string;
  requests: number;
  hits: number;
  misses: number;
  rebinds: number;
  last_rebind_reason: RebindReason | null;
}

/** How many passports a tenant has, and how many it may have; null until a worker has set the limit. */
export interface PassportCount {
  tenant_id: string;
  passports: number;
  max_passports: number | null;
}

/** A row of `dataplane_passports`: times as `Date`, counts as numbers. */
export interface PassportRow extends Omit<PassportSighting, 'bound_at' | 'last_seen_at' | 'expires_at'> {
  bound_at: Date | null;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
}

const PASSPORT_COLUMNS = `id, tenant_id, deployment_id, deployment_name, key_hash, source, subject, mode, ttl_seconds, revision_id, revision_name,
  instance_id, bound_at, created_at, last_seen_at, expires_at, revoked_at, requests::float8, hits::float8, misses::float8, rebinds::float8,
  last_rebind_reason`;

/**
 * Sorted by id: two gateways that write the same sessions must lock their rows in one order. A session without a row
 * gets one if the tenant's count allows it. The count is the one from before the statement, so gateways that write at
 * the same moment may together exceed it by a batch each.
 */
const WRITE_SIGHTINGS: NamedSql = {
  name: 'dataplane_write_sightings',
  text: `
    with seen as (
      select s.*, (select true from dataplane_passports k where k.id = s.id) is true as is_known
      from jsonb_to_recordset($1::jsonb) as s(id text, tenant_id text, deployment_id text, deployment_name text, key_hash text, source text,
        subject text, mode text, ttl_seconds int, revision_id text, revision_name text, instance_id text, bound_at timestamptz,
        last_seen_at timestamptz, expires_at timestamptz, requests bigint, hits bigint, misses bigint, rebinds bigint, last_rebind_reason text)
    ), kept as (
      select s.*, row_number() over (partition by s.tenant_id, s.is_known order by s.id) as position
      from seen s
    )
    insert into dataplane_passports as p (id, tenant_id, deployment_id, deployment_name, key_hash, source, subject, mode, ttl_seconds,
      revision_id, revision_name, instance_id, bound_at, created_at, last_seen_at, expires_at, requests, hits, misses, rebinds, last_rebind_reason)
    select s.id, s.tenant_id, s.deployment_id, s.deployment_name, s.key_hash, s.source, s.subject, s.mode, s.ttl_seconds,
      s.revision_id, s.revision_name, s.instance_id, s.bound_at, coalesce(s.bound_at, s.last_seen_at), s.last_seen_at, s.expires_at,
      s.requests, s.hits, s.misses, s.rebinds, s.last_rebind_reason
    from kept s left join dataplane_passport_counts c on c.tenant_id = s.tenant_id
    where s.is_known or coalesce(c.passports + s.position <= c.max_passports, true)
    order by s.id
    on conflict (id) do update set
      deployment_name = excluded.deployment_name, source = excluded.source, subject = excluded.subject, mode = excluded.mode,
      ttl_seconds = excluded.ttl_seconds, revision_id = excluded.revision_id, revision_name = excluded.revision_name,
      instance_id = excluded.instance_id, bound_at = excluded.bound_at,
      last_seen_at = greatest(p.last_seen_at, excluded.last_seen_at), expires_at = greatest(p.expires_at, excluded.expires_at),
      requests = p.requests + excluded.requests, hits = p.hits + excluded.hits, misses = p.misses + excluded.misses,
      rebinds = p.rebinds + excluded.rebinds, last_rebind_reason = coalesce(excluded.last_rebind_reason, p.last_rebind_reason)`,
};

/** A declared session has no binding yet. Declaring a revoked or expired one again makes it valid again. */
const DECLARE_PASSPORT: NamedSql = {
  name: 'dataplane_declare_passport',
  text: `
    with declared as (
      insert into dataplane_passports as p (id, tenant_id, deployment_id, deployment_name, key_hash, source, subject, mode, ttl_seconds, expires_at)
      values ($1, $2, $3, $4, $5, 'declared', $6, $7, $8::int, now() + make_interval(secs => $8))
      on conflict (id) do update set subject = coalesce(excluded.subject, p.subject), mode = excluded.mode, ttl_seconds = excluded.ttl_seconds,
        expires_at = greatest(p.expires_at, excluded.expires_at), revoked_at = null
      returning *),
    told as (select pg_notify('${DATAPLANE_CHANNEL}', 'passport:' || id) from declared)
    select ${PASSPORT_COLUMNS} from declared, told`,
};

const REVOKE_PASSPORT: NamedSql = {
  name: 'dataplane_revoke_passport',
  text: `
    with revoked as (
      update dataplane_passports set revoked_at = coalesce(revoked_at, now()), instance_id = null, bound_at = null
      where tenant_id = $1 and id = $2 returning *),
    told as (select pg_notify('${DATAPLANE_CHANNEL}', 'passport:' || id) from revoked)
    select ${PASSPORT_COLUMNS} from revoked, told`,
};

const FIND_PASSPORT: NamedSql = {
  name: 'dataplane_find_passport',
  text: `select ${PASSPORT_COLUMNS} from dataplane_passports where tenant_id = $1 and id = $2`,
};

/** SQL, `p` is a row of `dataplane_passports`: its state by the clock of Postgres. */
const PASSPORT_STATE = `case when p.revoked_at is not null then 'revoked' when p.expires_at <= now() then 'expired' else 'active' end`;

/**
 * A select with the columns of `PassportRow`, for a page of the passports of tenant $1: those after id $2, and of
 * deployment or slug $3 and in state $4 if these are given. Ordered by id, because an index for another order would make
 * each report of a gateway more expensive.
 */
export const PASSPORTS_OF_TENANT = `
  select ${PASSPORT_COLUMNS} from dataplane_passports p
  where p.tenant_id = $1 and ($2::text is null or p.id > $2) and ($3::text is null or p.deployment_name = $3)
    and ($4::text is null or ${PASSPORT_STATE} = $4) order by p.id`;

/** Notifies the gateways as a revocation does: they forget that the passport was revoked. */
const DELETE_ENDED_PASSPORT: NamedSql = {
  name: 'dataplane_delete_ended_passport',
  text: `
    with ended as (
      delete from dataplane_passports where tenant_id = $1 and id = $2 and (revoked_at is not null or expires_at <= now()) returning *),
    told as (select pg_notify('${DATAPLANE_CHANNEL}', 'passport:' || id) from ended)
    select ${PASSPORT_COLUMNS} from ended, told`,
};

const READ_LIVE_BINDINGS: NamedSql = {
  name: 'dataplane_live_bindings',
  text: `
    select ${PASSPORT_COLUMNS} from dataplane_passports
    where expires_at > now() and revoked_at is null and instance_id is not null order by expires_at desc limit $1`,
};

const DELETE_EXPIRED_PASSPORTS: NamedSql = {
  name: 'dataplane_delete_expired_passports',
  text: `delete from dataplane_passports where expires_at < now() - make_interval(secs => $1)`,
};

/** Deletes a bounded number, soonest expired first: a tenant that has filled its quota must not delay the others. */
const DELETE_EXPIRED_PASSPORTS_OF_TENANT: NamedSql = {
  name: 'dataplane_delete_expired_passports_of',
  text: `
    delete from dataplane_passports where id = any(array(
      select id from dataplane_passports where tenant_id = $1 and expires_at < now() order by expires_at limit $2 for update skip locked))`,
};

const READ_PASSPORT_COUNTS: NamedSql = {
  name: 'dataplane_passport_counts',
  text: `select tenant_id, passports::float8, max_passports::float8 from dataplane_passport_counts order by tenant_id`,
};

const READ_PASSPORT_COUNT: NamedSql = {
  name: 'dataplane_passport_count_of',
  text: `select passports::float8 from dataplane_passport_counts where tenant_id = $1`,
};

/** Inserts a row if nothing has been counted: the bound must exist before the first passport. */
const BOUND_PASSPORTS: NamedSql = {
  name: 'dataplane_bound_passports',
  text: `
    insert into dataplane_passport_counts as c (tenant_id, passports, max_passports) values ($1, 0, $2)
    on conflict (tenant_id) do update set max_passports = excluded.max_passports where c.max_passports is distinct from excluded.max_passports`,
};

/** Stores sightings in one statement. A batch that is sent again after an uncertain commit may count twice. */
export async function writeSightings(db: QueryClient, sightings: readonly PassportSighting[]): Promise<void> {
  if (sightings.length > 0) await db.query(WRITE_SIGHTINGS, [JSON.stringify(sightings)]);
}

/** Declares a session before its first request, or renews it. Uses the results of `passportId` and `sessionKeyHash`. */
export async function declarePassport(
  db: QueryClient,
  passport: {
    id: string;
    tenantId: string;
    deploymentId: string;
    deploymentName: string;
    keyHash: string;
    subject: string | null;
    mode: 'none' | 'soft';
    ttlSeconds: number;
  },
): Promise<PassportRow> {
  const rows = await db.query<PassportRow>(DECLARE_PASSPORT, [
    passport.id,
    passport.tenantId,
    passport.deploymentId,
    passport.deploymentName,
    passport.keyHash,
    passport.subject,
    passport.mode,
    passport.ttlSeconds,
  ]);
  return rows[0] as PassportRow;
}

/**
 * From the commit on, gateways forget the binding and treat the session's requests as sessionless. Returns undefined if
 * there is no such passport.
 */
export async function revokePassport(db: QueryClient, tenantId: string, id: string): Promise<PassportRow | undefined> {
  return (await db.query<PassportRow>(REVOKE_PASSPORT, [tenantId, id]))[0];
}

export async function findPassport(db: QueryClient, tenantId: string, id: string): Promise<PassportRow | undefined> {
  return (await db.query<PassportRow>(FIND_PASSPORT, [tenantId, id]))[0];
}

/**
 * Deletes the record of a session that is revoked or expired, and returns it; undefined if there is none. The session
 * begins anew at its next request.
 */
export async function deleteEndedPassport(
  db: QueryClient,
  tenantId: string,
  id: string,
): Promise<PassportRow | undefined> {
  return (await db.query<PassportRow>(DELETE_ENDED_PASSPORT, [tenantId, id]))[0];
}

/** Returns the bindings that a starting gateway takes over, the most recently used first. */
export async function liveBindings(db: QueryClient, limit: number): Promise<PassportRow[]> {
  return db.query<PassportRow>(READ_LIVE_BINDINGS, [limit]);
}

export async function deletePassportsExpiredFor(db: QueryClient, seconds: number): Promise<void> {
  await db.query(DELETE_EXPIRED_PASSPORTS, [seconds]);
}

/** Deletes up to `limit` expired passports of one tenant, which would otherwise be kept as records for a while. */
export async function deleteExpiredPassportsOf(db: QueryClient, tenantId: string, limit: number): Promise<void> {
  await db.query(DELETE_EXPIRED_PASSPORTS_OF_TENANT, [tenantId, limit]);
}

/** Returns the counts of every tenant that has or had passports. */
export async function passportCounts(db: QueryClient): Promise<PassportCount[]> {
  return db.query<PassportCount>(READ_PASSPORT_COUNTS);
}

export async function passportCountOf(db: QueryClient, tenantId: string): Promise<number> {
  return (await db.query<{ passports: number }>(READ_PASSPORT_COUNT, [tenantId]))[0]?.passports ?? 0;
}

/** From the commit on, gateways write no passport of a new session that would exceed `max`. */
export async function boundPassports(db: QueryClient, tenantId: string, max: number): Promise<void> {
  await db.query(BOUND_PASSPORTS, [tenantId, max]);
}

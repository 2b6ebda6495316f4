import { prepared } from '@slipway/platform-database';

/** Two workers may reach a new tenant at once: `on conflict` leaves the existing head. */
export const ENSURE_HEAD = prepared(
  'audit-ensure-head',
  `insert into audit_heads (tenant_id, hash) values ($1, $2) on conflict do nothing`,
);

/** The worker that holds this row seals. Another worker finds it locked and skips the tenant. */
export const LOCK_HEAD = prepared(
  'audit-lock-head',
  `select sequence::float8 as sequence, hash from audit_heads where tenant_id = $1 for update skip locked`,
);

/** Seals hundreds of rows, each with values of its own, in one statement. */
export const SEAL = prepared(
  'audit-seal',
  `update audit_log a set sequence = s.sequence, previous_hash = s.previous_hash, hash = s.hash, key_id = $7, seal = s.seal
   from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[]) as s (id, sequence, previous_hash, hash, seal)
   where a.tenant_id = $1 and a.id = s.id and a.sequence is null`,
);

/**
 * A time that is further away than a claim can be was written by someone else, or by a clock that was set back. A claim
 * that waited for another one sees times of up to a transaction more than a minute.
 */
const isDue = (time: string): string => `(${time} <= now() or ${time} > now() + interval '2 minutes')`;

/**
 * Claims changed heads, each for one worker: a later claim finds the head not due. It is due again in a minute, whether
 * or not it was kept by then. A worker that dies in between costs a minute and, at worst, a second line of the same
 * head.
 */
export const CLAIM_ANCHORS = prepared(
  'audit-claim-anchors',
  `with news as (
     select h.tenant_id, h.sequence, h.hash, h.sealed_at, a.sequence as anchored
     from audit_heads h left join audit_anchors a on a.tenant_id = h.tenant_id
     where h.hash <> coalesce(a.hash, $1) and coalesce(${isDue('a.due_at')}, true) order by h.tenant_id limit $2),
   claimed as (
     insert into audit_anchors as a (tenant_id, due_at) select tenant_id, now() + interval '1 minute' from news order by tenant_id
     on conflict (tenant_id) do update set due_at = excluded.due_at where ${isDue('a.due_at')}
     returning a.tenant_id, a.due_at)
   select n.tenant_id as "tenantId", n.sequence::float8 as sequence, n.hash, n.anchored::float8 as anchored,
     to_char(n.sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "sealedAt", c.due_at::text as "dueAt"
   from news n join claimed c on c.tenant_id = n.tenant_id order by n.tenant_id`,
);

/** Fenced by the claim: a slow worker must not write an older head over a newer one. */
export const NOTE_ANCHORS = prepared(
  'audit-note-anchors',
  `update audit_anchors a set sequence = s.sequence, hash = s.hash
   from unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[]) as s (tenant_id, sequence, hash, due_at)
   where a.tenant_id = s.tenant_id and a.due_at = s.due_at`,
);

/** The ends of the chains, from their heads and from their rows, in one snapshot: a sealer changes both at once. */
export const CHAINS = prepared(
  'audit-chains',
  `select c.id as tenant_id, coalesce(t.name, c.id) as tenant_name, h.sequence::float8 as head_sequence, h.hash as head_hash,
     (select max(a.sequence)::float8 from audit_log a where a.tenant_id = c.id) as last_sequence,
     (select count(*)::float8 from audit_log a where a.tenant_id = c.id and a.sequence is null) as unsealed
   from (select id from tenants union select tenant_id from audit_heads) c
   left join tenants t on t.id = c.id left join audit_heads h on h.tenant_id = c.id
   where $1::text is null or c.id = $1 or t.name = $1 order by tenant_name`,
);

export interface ChainEnd {
  tenant_id: string;
  tenant_name: string;
  head_sequence: number | null;
  head_hash: string | null;
  last_sequence: number | null;
  unsealed: number;
}

import { prepared } from '@slipway/platform-database';

/** What a hash covers beside the one before it: every column, the time to the microsecond as it is stored. */
const CONTENT = `a.id, a.tenant_id, to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, a.actor, a.action,
  a.resource_type, a.resource_name, a.request_id, a.before_digest, a.after_digest`;

/** Sequences stay far below 2^53, so a double holds them exactly. */
const ROW = `${CONTENT}, a.sequence::float8 as sequence, a.previous_hash, a.hash`;

/** A row before it is sealed. */
export interface AuditContent {
  id: string;
  tenant_id: string;
  at: string;
  actor: string;
  action: string;
  resource_type: string;
  resource_name: string;
  request_id: string | null;
  before_digest: string | null;
  after_digest: string | null;
}

export interface AuditRow extends AuditContent {
  sequence: number | null;
  previous_hash: string | null;
  hash: string | null;
}

/** Keyset on the id, which sorts by the time of the change; a row is shown before it is sealed. */
export const LIST = prepared(
  'audit-list',
  `select ${ROW} from audit_log a
   where a.tenant_id = $1 and ($2::text is null or a.id < $2) and ($3::text is null or a.action = $3) and ($4::text is null or a.actor = $4)
     and ($5::text is null or a.resource_type = $5) and ($6::text is null or a.resource_name = $6)
   order by a.id desc limit $7`,
);

export const UNSEALED_TENANTS = prepared(
  'audit-unsealed-tenants',
  `select distinct tenant_id from audit_log where sequence is null`,
);

export const ENSURE_HEAD = prepared(
  'audit-ensure-head',
  `insert into audit_heads (tenant_id, hash) values ($1, $2) on conflict do nothing`,
);

/** Whoever holds this row seals; another worker finds it locked and leaves the tenant alone. */
export const LOCK_HEAD = prepared(
  'audit-lock-head',
  `select sequence::float8 as sequence, hash from audit_heads where tenant_id = $1 for update skip locked`,
);

/**
 * In the order of their ids among those that can be seen now. A transaction that commits later with an older id gets a
 * later sequence: the chain tells the order of sealing, and `at` the order of the changes.
 */
export const NEXT_UNSEALED = prepared(
  'audit-next-unsealed',
  `select ${CONTENT} from audit_log a where a.tenant_id = $1 and a.sequence is null order by a.id limit $2`,
);

export const SEAL = prepared(
  'audit-seal',
  `update audit_log a set sequence = s.sequence, previous_hash = s.previous_hash, hash = s.hash
   from unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) as s (id, sequence, previous_hash, hash)
   where a.tenant_id = $1 and a.id = s.id and a.sequence is null`,
);

export const MOVE_HEAD = prepared(
  'audit-move-head',
  `update audit_heads set sequence = $2, hash = $3, sealed_at = now() where tenant_id = $1`,
);

/** The ends of the chains, by their heads and by their rows, in one snapshot: a sealer moves both at once. */
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

export const SEALED_PAGE = prepared(
  'audit-sealed-page',
  `select ${ROW} from audit_log a where a.tenant_id = $1 and a.sequence > $2 order by a.sequence limit $3`,
);

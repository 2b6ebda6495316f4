import { prepared } from '@slipway/platform-database';

/** Two workers may come to a new tenant at once: `on conflict` leaves the head that is there. */
export const ENSURE_HEAD = prepared(
  'audit-ensure-head',
  `insert into audit_heads (tenant_id, hash) values ($1, $2) on conflict do nothing`,
);

/** Whoever holds this row seals; another worker finds it locked and leaves the tenant alone. */
export const LOCK_HEAD = prepared(
  'audit-lock-head',
  `select sequence::float8 as sequence, hash from audit_heads where tenant_id = $1 for update skip locked`,
);

/** Hundreds of rows, each with values of its own, in one statement. */
export const SEAL = prepared(
  'audit-seal',
  `update audit_log a set sequence = s.sequence, previous_hash = s.previous_hash, hash = s.hash
   from unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) as s (id, sequence, previous_hash, hash)
   where a.tenant_id = $1 and a.id = s.id and a.sequence is null`,
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

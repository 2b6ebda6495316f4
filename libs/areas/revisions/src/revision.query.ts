import { prepared } from '@slipway/platform-database';

/** What the ports hand out; `r` is the table's alias. */
const COLUMNS = `r.id, r.tenant_id "tenantId", r.deployment_id "deploymentId", r.number, r.name, r.state, r.spec_digest "specDigest", r.spec`;

const ANSWER = `jsonb_build_object('id', r.id, 'deployment', $2::text, 'number', r.number, 'name', r.name, 'state', r.state, 'message', r.message,
  'spec', r.spec, 'spec_digest', r.spec_digest, 'source', r.source, 'change_ref', r.change_ref, 'created_by', r.created_by,
  'created_at', slipway_rfc3339(r.created_at), 'ready_at', slipway_rfc3339(r.ready_at))`;

/** By id, name or number, in that order of meaning; a number is text here, so that any text can be asked for. */
export const FIND = prepared(
  'revision-find',
  `select ${COLUMNS} from revisions r where r.deployment_id = $1 and (r.id = $2 or r.name = $2 or r.number::text = $2)`,
);
export const FIND_ANSWER = prepared(
  'revision-find-answer',
  `select r.number, ${ANSWER}::text as json from revisions r where r.deployment_id = $1 and (r.id = $3 or r.name = $3 or r.number::text = $3)`,
);
export const LIST_ANSWERS = prepared(
  'revision-list',
  `select r.number, ${ANSWER}::text as json from revisions r where r.deployment_id = $1 and ($3::int is null or r.number < $3) order by r.number desc limit $4`,
);
export const GET_MANY = prepared('revision-many', `select ${COLUMNS} from revisions r where r.id = any($1)`);
export const BY_DIGEST = prepared(
  'revision-by-digest',
  `select ${COLUMNS} from revisions r where r.deployment_id = $1 and r.spec_digest = $2 and r.state <> 'failed' order by r.number desc limit 1`,
);

/** The caller holds the deployment's lock, so the next number cannot be taken by another. */
export const INSERT = prepared(
  'revision-insert',
  `insert into revisions as r (id, tenant_id, deployment_id, number, name, spec, spec_digest, source, change_ref, created_by)
   select $1, $2, $3, n.number, $4 || '-' || lpad(n.number::text, 5, '0'), $5, $6, $7, $8, $9
   from (select coalesce(max(number), 0) + 1 as number from revisions where deployment_id = $3) as n
   returning ${COLUMNS}`,
);

export const SET_STATE = prepared(
  'revision-set-state',
  `update revisions r set state = $2, message = $3, ready_at = case when $2 = 'ready' then coalesce(r.ready_at, now()) else r.ready_at end
   where r.id = $1 and r.state <> $2 and r.state = any($4) returning ${COLUMNS}`,
);

export const ACTIVATE = prepared(
  'revision-activate',
  `with log as (
     insert into revision_activations (tenant_id, deployment_id, revision_id, operation_id)
     select $1, $2, $3, $4
     where $3 is distinct from (select revision_id from revision_activations where deployment_id = $2 order by id desc limit 1)
   )
   update revisions set state = case when id = $3 then 'active' else 'standby' end
   where deployment_id = $2 and (id = $3 and state <> 'failed' or id <> $3 and state = 'active')`,
);

export const LEFT_BY_ROLLBACK = prepared(
  'revision-left',
  `update revision_activations set is_left_by_rollback = true where deployment_id = $1 and revision_id = $2`,
);

/** The newest revision that held all traffic, other than $2, that no rollback has left and that has not failed. */
export const PREVIOUS = prepared(
  'revision-previous',
  `select ${COLUMNS} from revision_activations a join revisions r on r.id = a.revision_id
   where a.deployment_id = $1 and a.revision_id is distinct from $2 and not a.is_left_by_rollback and r.state <> 'failed'
   order by a.id desc limit 1`,
);

export const WAS_ACTIVE = prepared(
  'revision-was-active',
  `select 1 as found from revision_activations where revision_id = $1 limit 1`,
);

export const IDS_OF = prepared('revision-ids', `select id from revisions where deployment_id = $1 order by number`);

/** Waits for a deletion of the revision that is under way, and then finds nothing to pin. */
export const PIN = prepared(
  'revision-pin',
  `with kept as (
     select id, tenant_id from revisions where id = $1 for key share
   ), pinned as (
     insert into revision_pins (revision_id, tenant_id, holder) select id, tenant_id, $2 from kept on conflict do nothing
   )
   select 1 as found from kept`,
);

export const CROWDED = prepared(
  'revision-collect-crowded',
  `select deployment_id "deploymentId" from revisions where state in ('retired','failed') group by deployment_id having count(*) > 1 limit 200`,
);

/** What is beyond the limit, newest first, without what is pinned or what the rollback window (the last activations) still names. */
export const COLLECT = prepared(
  'revision-collect',
  `delete from revisions where id in (
     select id from revisions r
     where r.deployment_id = $1 and r.state in ('retired','failed') and r.id <> all($3)
       and r.id not in (select a.revision_id from revision_activations a where a.deployment_id = $1 order by a.id desc limit $2)
       and not exists (select from revision_pins p where p.revision_id = r.id)
     order by r.number desc offset $2)`,
);

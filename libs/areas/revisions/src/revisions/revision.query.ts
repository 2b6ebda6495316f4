import { KEYS, lookup, prepared, withinBytes } from '@slipway/platform-database';

/** Columns that the port returns; `r` is the table's alias. */
const COLUMNS = `r.id, r.tenant_id "tenantId", r.deployment_id "deploymentId", r.number, r.name, r.state, r.spec_digest "specDigest", r.spec`;

/** A `RevisionDto` as JSON text; $1 is the deployment's id and $2 its name. */
const SHOWN = `(select row_to_json(shown) from (select r.id, $2::text as deployment, r.number, r.name, r.state, r.message,
     r.spec, r.spec_digest, r.source, r.change_ref, r.created_by,
     slipway_rfc3339(r.created_at) as created_at, slipway_rfc3339(r.ready_at) as ready_at) shown)::text as json`;

/** Newest first, below number $3. */
export const LIST_REVISIONS = lookup(
  'revisions-list',
  `select r.number, r.has_more, ${SHOWN} from ${withinBytes(
    'r',
    'select * from revisions where deployment_id = $1 and number < $3::int8 and ($5::text is null or state = $5) order by number desc',
    '$4',
    { spec: 'jsonb', source: 'jsonb', created_by: 'jsonb', message: 'text', change_ref: 'text' },
  )} order by r.page_row`,
);

/** By id, name or number. A deployment has few revisions, so one index is enough for all three. */
export const SHOW_REVISION = lookup(
  'revisions-show',
  `select ${SHOWN} from revisions r where r.deployment_id = $1 and (r.id = $3 or r.name = $3 or r.number = $4)`,
);

/** Every accepted rollout and most of its steps run it, so it is planned once per connection. */
export const GET_REVISION = prepared('revisions-get', `select ${COLUMNS} from revisions r where r.id = $1`);

/** For answers with several revisions, and for the revisions of a route. */
export const GET_REVISIONS = lookup('revisions-get-many', `select ${COLUMNS} from revisions r where r.id = any($1)`);

/**
 * For answers about a deployment or a page of deployments. They do not need the whole spec, whose arguments and variables
 * may be long.
 */
export const SUMMARIZE_REVISIONS = lookup(
  'revisions-summarize',
  `select r.id as key, r.name, r.spec->'scaling' as scaling, r.spec->'resources' as resources,
     jsonb_strip_nulls(jsonb_build_object('target', r.spec->'runtime'->'target', 'engine', r.spec->'runtime'->'engine')) as runtime
   from revisions r where r.id = any ${KEYS}`,
);

/** Every accepted rollout runs it, so it is planned once per connection and returns both answers in one row. */
export const REVISION_WITH_DIGEST = prepared(
  'revisions-with-digest',
  `select of_all.kept, of_all.next, same.*
   from (
     select count(*)::int as kept, coalesce(max(number), 0) + 1 as next from revisions where deployment_id = $1
   ) as of_all left join lateral (
     select ${COLUMNS} from revisions r
     where r.deployment_id = $1 and r.spec_digest = $2 and r.state <> 'failed' order by r.number desc limit 1
   ) as same on true`,
);

/** The caller holds the deployment's lock, so no other transaction takes the number. Every accepted rollout runs it. */
export const INSERT_REVISION = prepared(
  'revisions-insert',
  `insert into revisions (id, tenant_id, deployment_id, number, name, state, spec_digest, spec, source, change_ref, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

/** Compares and sets in one statement, and returns the new row. If two transactions move a revision, one succeeds. */
export const SET_REVISION_STATE = prepared(
  'revisions-set-state',
  `update revisions r set state = $2, message = $3, ready_at = case when $2 = 'ready' then coalesce(r.ready_at, now()) else r.ready_at end
   where r.id = $1 and r.state <> $2 and r.state = any($4) returning ${COLUMNS}`,
);

/**
 * Changes two tables and two revisions in one statement, because it runs at the moment when a rollout moves the
 * traffic.
 */
export const ACTIVATE_REVISION = prepared(
  'revisions-activate',
  `with log as (
     insert into revision_activations (tenant_id, deployment_id, revision_id, operation_id)
     select $1, $2, $3, $4
     where $3 is distinct from (select revision_id from revision_activations where deployment_id = $2 order by id desc limit 1)
   )
   update revisions set state = case when id = $3 then 'active' else 'standby' end
   where deployment_id = $2 and (id = $3 and state <> 'failed' or id <> $3 and state = 'active')`,
);

/** Reads one entry of the index for each deployment. */
export const LAST_ACTIVATIONS = lookup(
  'revisions-last-activations',
  `select d.id as key, newest.at from unnest(${KEYS}) as d(id), lateral (
     select slipway_rfc3339(a.activated_at) as at from revision_activations a where a.deployment_id = d.id order by a.id desc limit 1) newest`,
);

/** Reads the next $2 deployments, in the order of their ids, that have revisions which no binding keeps. */
export const REVISION_OWNERS = prepared(
  'revisions-owners',
  `select distinct r.deployment_id as id from revisions r
   where r.deployment_id > $1 and not exists (select from revision_pins p where p.revision_id = r.id)
   order by r.deployment_id limit $2`,
);

/** Deletes from two tables in one statement. A pinned revision stays, because a binding serves it. */
export const REMOVE_REVISIONS = prepared(
  'revisions-remove-of-deployment',
  `with gone as (
     delete from revisions r where r.deployment_id = $1 and not exists (select from revision_pins p where p.revision_id = r.id)
   )
   delete from revision_activations where deployment_id = $1`,
);

/**
 * The newest revision that held all traffic, except those in $2, those that a rollback has left, and failed ones. It
 * joins the activation log.
 */
export const PREVIOUS_REVISION = prepared(
  'revisions-previous',
  `select ${COLUMNS} from revision_activations a join revisions r on r.id = a.revision_id
   where a.deployment_id = $1 and a.revision_id <> all($2) and not a.is_left_by_rollback and r.state <> 'failed'
   order by a.id desc limit 1`,
);

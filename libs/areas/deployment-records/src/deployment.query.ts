import { locking, prepared } from '@slipway/platform-database';

/** What a `Deployment` and a `DeploymentRecord` of the port are made of; `d` is the table's alias. */
const COLUMNS = `
  d.id, d.tenant_id "tenantId", d.name, d.state, d.default_strategy "defaultStrategy", d.revision_history_limit "revisionHistoryLimit",
  d.active_revision_id "activeRevisionId", d.candidate_revision_id "candidateRevisionId", d.previous_revision_id "previousRevisionId",
  d.current_operation_id "currentOperationId", d.version`;
const RECORD = `${COLUMNS}, d.display_name "displayName", d.description, d.labels, d.environment, d.conditions, d.created_by "createdBy",
  d.created_at "createdAt", d.updated_at "updatedAt"`;

export const GET = prepared(
  'deployment-get',
  `select ${COLUMNS} from deployments d where d.tenant_id = $1 and d.name = $2 and d.deleted_at is null`,
);
/*
 * The first lock of every mutation of a deployment: rollouts, route changes and deletions of one deployment happen one after
 * the other. A transaction that waited here sees the row as the one before left it, because READ COMMITTED looks again.
 */
export const LOCK = locking(
  'deployment',
  prepared(
    'deployment-lock',
    `select ${COLUMNS} from deployments d where d.tenant_id = $1 and d.name = $2 and d.deleted_at is null for update`,
  ),
  (values) => [values.join('/')],
);
export const LOCK_BY_ID = locking(
  'deployment',
  prepared(
    'deployment-lock-id',
    `select ${COLUMNS}, d.conditions from deployments d where d.id = $1 and d.deleted_at is null for update`,
  ),
);

/** Two creations of one name meet at the unique index: the second waits, then inserts nothing. */
export const INSERT = prepared(
  'deployment-insert',
  `insert into deployments as d (id, tenant_id, name, display_name, description, labels, environment, default_strategy, revision_history_limit,
     conditions, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
   on conflict (tenant_id, name) where deleted_at is null do nothing
   returning ${RECORD}`,
);

export const UPDATE = prepared(
  'deployment-update',
  `update deployments set state = $2, active_revision_id = $3, candidate_revision_id = $4, previous_revision_id = $5, current_operation_id = $6,
     conditions = $7, version = version + 1, updated_at = now() where id = $1`,
);

/** A name stays taken until here; what refers to the row by its id still finds it. */
export const MARK_DELETED = prepared(
  'deployment-deleted',
  `update deployments set deleted_at = now(), current_operation_id = null, version = version + 1, updated_at = now() where id = $1`,
);

/** Nobody waits for an observation: it is dropped when the row has changed since it was made, or is locked. */
export const OBSERVE = prepared(
  'deployment-observe',
  `update deployments set state = $3, conditions = $4
   where id = (select id from deployments where id = $1 and version = $2 and deleted_at is null for update skip locked)`,
);

/** Living deployments by id, for a round that takes a few at a time. */
export const LIVING_AFTER = prepared(
  'deployment-living',
  `select ${RECORD} from deployments d where d.deleted_at is null and d.state <> 'deleting' and d.id > $1 order by d.id limit $2`,
);

import { KEYS, locking, lookup, prepared, withinBytes } from '@slipway/platform-database';

/** Columns of a `Deployment` of the port; `d` is the table's alias. */
const COLUMNS = `
  d.id, d.tenant_id "tenantId", d.name, d.state, d.default_strategy "defaultStrategy", d.default_analysis "defaultAnalysis",
  d.revision_history_limit "revisionHistoryLimit", d.protection, d.scaling,
  d.active_revision_id "activeRevisionId", d.candidate_revision_id "candidateRevisionId", d.previous_revision_id "previousRevisionId",
  d.current_operation_id "currentOperationId", d.version`;

/** Every read of something that belongs to a deployment starts with this query, including each page of its events. */
export const DEPLOYMENT_ID = lookup(
  'deployment-records-id',
  `select d.name as key, d.id from deployments d where d.name = any ${KEYS} and d.tenant_id = $2 and d.deleted_at is null`,
);
/** For transactions that then read more of the deployment, so it is planned once per connection. */
export const GET_DEPLOYMENT = prepared(
  'deployment-records-get',
  `select ${COLUMNS} from deployments d where d.tenant_id = $1 and d.name = $2 and d.deleted_at is null`,
);
/** Columns of a `DeploymentRecord`: everything that is stored. */
const RECORD = `${COLUMNS},
  d.display_name "displayName", d.description, d.labels, d.environment, d.drain_seconds "drainSeconds", d.media_urls "mediaUrls", d.conditions, d.created_by "createdBy", d.updated_by "updatedBy", d.created_at "createdAt",
  d.updated_at "updatedAt", d.deleted_at "deletedAt"`;

/** The record of one deployment for answers. As a lookup it holds no connection, and it is planned once. */
export const GET_DEPLOYMENT_RECORD = lookup(
  'deployment-records-show',
  `select d.name as key, ${RECORD} from deployments d where d.name = any ${KEYS} and d.tenant_id = $2 and d.deleted_at is null`,
);
/**
 * A page of the list without filters, which most lists are. Filters need a plan for each combination, so TypeORM writes
 * those queries.
 */
export const LIST_DEPLOYMENT_RECORDS = lookup(
  'deployment-records-list',
  `select ${RECORD}, d.has_more from ${withinBytes(
    'd',
    'select * from deployments where tenant_id = $1 and deleted_at is null and id < $2 order by id desc',
    '$3',
    {
      display_name: 'text',
      description: 'text',
      labels: 'jsonb',
      default_strategy: 'jsonb',
      default_analysis: 'jsonb',
      protection: 'jsonb',
      scaling: 'jsonb',
      media_urls: 'jsonb',
      conditions: 'jsonb',
      created_by: 'jsonb',
      updated_by: 'jsonb',
    },
  )} order by d.page_row`,
);
/*
 * The first lock of every mutation of a deployment. It serializes the rollouts, route changes and deletions of one
 * deployment. A transaction that waited here sees the row as the previous one left it, because READ COMMITTED reads it
 * again.
 */
export const LOCK_DEPLOYMENT = locking(
  'deployment',
  prepared(
    'deployment-records-lock',
    `select ${COLUMNS}, d.conditions from deployments d
     where d.tenant_id = $1 and d.name = $2 and d.deleted_at is null for update`,
  ),
  ([tenantId, name]) => [`${String(tenantId)}/${String(name)}`],
);
/** The same lock, by id. */
export const LOCK_DEPLOYMENT_BY_ID = locking(
  'deployment',
  prepared(
    'deployment-records-lock-id',
    `select ${COLUMNS}, d.conditions from deployments d where d.id = $1 and d.deleted_at is null for update`,
  ),
);

/** Every accepted rollout runs it several times, so it is planned once per connection. */
export const UPDATE_DEPLOYMENT = prepared(
  'deployment-records-update',
  `update deployments set state = $2, active_revision_id = $3, candidate_revision_id = $4, previous_revision_id = $5,
     current_operation_id = $6, conditions = $7, version = version + 1, updated_at = now()
   where id = $1`,
);

/** Observations never block: one is dropped if the row has changed since, or is locked (SKIP LOCKED). */
export const OBSERVE_DEPLOYMENT = prepared(
  'deployment-records-observe',
  `update deployments set state = $3, conditions = $4
   where id = (select id from deployments where id = $1 and version = $2 and deleted_at is null for update skip locked)`,
);

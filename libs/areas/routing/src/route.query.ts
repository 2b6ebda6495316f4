import { prepared } from '@slipway/platform-database';

/** A removed route keeps its row, so that generations never repeat; it counts as none. */
export const CURRENT = prepared(
  'route-current',
  `select deployment_id "deploymentId", tenant_id "tenantId", generation, targets, affinity from routes where deployment_id = $1`,
);

/** The caller holds the deployment's lock, so nobody else writes this row. */
export const WRITE = prepared(
  'route-write',
  `insert into routes (deployment_id, tenant_id, generation, targets, slots, affinity, reason, updated_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (deployment_id) do update set generation = excluded.generation, targets = excluded.targets, slots = excluded.slots,
     affinity = excluded.affinity, reason = excluded.reason, updated_by = excluded.updated_by, updated_at = now()`,
);

export const OWNER = prepared(
  'traffic-owner',
  `select operation_id "operationId" from traffic_owner where deployment_id = $1`,
);

/** The primary key decides between two; who comes second inserts nothing and is told the holder by the next statement. */
export const TAKE = prepared(
  'traffic-take',
  `insert into traffic_owner (deployment_id, tenant_id, operation_id) values ($1, $2, $3) on conflict (deployment_id) do nothing returning operation_id`,
);
export const RELEASE = prepared(
  'traffic-release',
  `delete from traffic_owner where deployment_id = $1 and operation_id = $2`,
);

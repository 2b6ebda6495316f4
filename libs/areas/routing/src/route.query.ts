import { prepared } from '@slipway/platform-database';

/** Every rollout reads it when it is accepted and at each change of its traffic: planned once per connection. */
export const CURRENT = prepared(
  'route-current',
  `select deployment_id "deploymentId", tenant_id "tenantId", generation, targets, affinity from routes where deployment_id = $1`,
);

/** The primary key decides between two; who comes second inserts nothing and looks the holder up then. */
export const TAKE = prepared(
  'traffic-take',
  `insert into traffic_owner (deployment_id, tenant_id, operation_id) values ($1, $2, $3) on conflict (deployment_id) do nothing returning operation_id`,
);

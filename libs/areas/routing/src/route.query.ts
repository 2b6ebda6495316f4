import { KEYS, lookup, prepared } from '@slipway/platform-database';
import { isLiveOperation } from '@slipway/platform-durable/operations';

const COLUMNS = `deployment_id "deploymentId", generation, targets, affinity, hold,
     extract(epoch from clock_timestamp() - (hold->>'since')::timestamptz)::float8 "heldSeconds", to_jsonb(clock_timestamp()) #>> '{}' now`;

/** For answers about a deployment or a page of deployments, which do not show holds. */
export const CURRENT_ROUTES = lookup(
  'routing-current-many',
  `select deployment_id as key, generation, targets, affinity, null as hold from routes where deployment_id = any ${KEYS} and targets <> '[]'`,
);

/** For the answer that clients poll, and for mutations before and after. A route without targets counts as none. */
export const ROUTE_ANSWERS = lookup(
  'routing-show',
  `select deployment_id as key, generation, targets, affinity, hold, reason, updated_by "updatedBy", slipway_rfc3339(updated_at) "updatedAt"
   from routes where deployment_id = any ${KEYS} and tenant_id = $2 and targets <> '[]'`,
);

/**
 * Every rollout reads it when it is accepted and at each change of its traffic, so it is planned once per connection.
 */
export const CURRENT_ROUTE = prepared('routing-current', `select ${COLUMNS} from routes where deployment_id = $1`);

/** The primary key decides between two operations: the second one inserts nothing, and then looks up the owner. */
export const TAKE_TRAFFIC = prepared(
  'routing-take-traffic',
  `insert into traffic_owner (deployment_id, tenant_id, operation_id) values ($1, $2, $3) on conflict (deployment_id) do nothing returning operation_id`,
);

/** Holds that no operation will end: the owner of the traffic is over, lost, or never existed. */
export const FORGOTTEN_HOLDS = prepared(
  'routing-forgotten-holds',
  `select r.deployment_id "deploymentId" from routes r where r.hold is not null and not exists (
     select from traffic_owner t where t.deployment_id = r.deployment_id and ${isLiveOperation('t.operation_id')})
   limit 100`,
);

import { KEYS, lookup, prepared } from '@slipway/platform-database';
import { isLiveOperation } from '@slipway/platform-durable/operations';

const COLUMNS = `deployment_id "deploymentId", generation, targets, affinity, hold,
     extract(epoch from clock_timestamp() - (hold->>'since')::timestamptz)::float8 "heldSeconds", to_jsonb(clock_timestamp()) #>> '{}' now`;

/** Whoever shows a deployment, or a page of them: of holds they show nothing. */
export const CURRENT_ROUTES = lookup(
  'routing-current-many',
  `select deployment_id as key, generation, targets, affinity, null as hold from routes where deployment_id = any ${KEYS} and targets <> '[]'`,
);

/** What clients poll, and mutations show before and after; a route without targets counts as none. */
export const ROUTE_ANSWERS = lookup(
  'routing-show',
  `select deployment_id as key, generation, targets, affinity, hold, reason, updated_by "updatedBy", slipway_rfc3339(updated_at) "updatedAt"
   from routes where deployment_id = any ${KEYS} and tenant_id = $2 and targets <> '[]'`,
);

/** Every rollout reads it when it is accepted and at each change of its traffic: planned once per connection. */
export const CURRENT_ROUTE = prepared('routing-current', `select ${COLUMNS} from routes where deployment_id = $1`);

/** The primary key decides between two; who comes second inserts nothing and looks the holder up then. */
export const TAKE_TRAFFIC = prepared(
  'routing-take-traffic',
  `insert into traffic_owner (deployment_id, tenant_id, operation_id) values ($1, $2, $3) on conflict (deployment_id) do nothing returning operation_id`,
);

/** Holds that nobody will end: what owned the traffic is over, lost, or never was. */
export const FORGOTTEN_HOLDS = prepared(
  'routing-forgotten-holds',
  `select r.deployment_id "deploymentId" from routes r where r.hold is not null and not exists (
     select from traffic_owner t where t.deployment_id = r.deployment_id and ${isLiveOperation('t.operation_id')})
   limit 100`,
);

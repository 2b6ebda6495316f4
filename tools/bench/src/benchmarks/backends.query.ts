/*
 * Rows that the areas publish to gateways. Creating them with rollouts would take hours and is not measured. The shapes
 * are those of libs/dataplane, with the columns that a gateway reads.
 */

/** Routes and backends from $2 to $3 of tenant $1, each backend with two instances on the address $4. */
export const FILL_ROUTES = `
  insert into dataplane_routes (deployment_id, tenant_id, deployment_name, generation, slots, targets, affinity)
  select 'dep_' || md5('d' || n), $1, 'bench-' || n, 1, array_fill(0::smallint, array[100]),
    jsonb_build_array(jsonb_build_object('revision_id', 'rev_' || md5('r' || n), 'revision_name', 'bench-' || n || '-00001', 'weight', 100)),
    '{"mode": "none", "ttl_seconds": 60}'
  from generate_series($2::int, $3::int) n`;

export const FILL_BACKENDS = `
  insert into dataplane_backends (revision_id, tenant_id, deployment_id, revision_name, model_id, instances)
  select 'rev_' || md5('r' || n), $1, 'dep_' || md5('d' || n), 'bench-' || n || '-00001', 'm',
    jsonb_build_array(jsonb_build_object('id', 'ins_' || md5(n || 'a'), 'base_url', $4::text, 'state', 'ready'),
      jsonb_build_object('id', 'ins_' || md5(n || 'b'), 'base_url', $4::text, 'state', 'ready'))
  from generate_series($2::int, $3::int) n`;

/** Moves one instance of backend $1, as when a pod is created again. */
export const MOVE_INSTANCE = `
  with written as (
    update dataplane_backends set version = version + 1, updated_at = clock_timestamp(),
      instances = jsonb_set(instances, '{0,id}', to_jsonb('ins_' || md5(random()::text)))
    where revision_id = 'rev_' || md5('r' || $1::int) returning revision_id)
  select pg_notify('slipway_dataplane', 'backend:' || revision_id) from written`;

/** Its commit publishes the route of backend $1 under the name of a number that was never used. */
export const NOTIFY_ROUTE = `
  select pg_notify('slipway_dataplane', 'route:' || deployment_id), pg_notify('slipway_dataplane', 'backend:' || revision_id)
  from dataplane_backends where revision_id = 'rev_' || md5('r' || $1::int)`;

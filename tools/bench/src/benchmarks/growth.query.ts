/*
 * Rows of a past that would take a stack weeks to create. Finished operations ended within the last four weeks, so that
 * nothing is deleted during the benchmark.
 */

/**
 * Deployments $2 of tenant $1, each with the values that the api gave the one named `template`. Otherwise the health
 * check would rewrite all of them.
 */
export const FILL_DEPLOYMENTS = `
  insert into deployments (id, tenant_id, name, created_by, updated_by, conditions)
  select 'dep_grown' || n, $1, 'grown-' || n, t.created_by, t.updated_by, t.conditions
  from generate_series(1, $2::int) n, deployments t where t.tenant_id = $1 and t.name = 'template'`;

/** Finished rollouts $2 of tenant $1, evenly distributed over $3 deployments. */
export const FILL_FINISHED = `
  insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, status, progress, attempt, current_step,
    current_step_status, requested_by, method, path, idempotency_key, fingerprint, input, result, created_at, updated_at, completed_at)
  select 'op_grown' || n, $1, 'rollout', 'deployment', 'grown-' || d, 'dep_grown' || d, 'deployment/dep_grown' || d, 'succeeded', 100, 1, 'await_ready',
    'succeeded', '{"type":"token","id":"bench"}', 'POST', '/api/v1/deployments/grown-' || d || '/rollouts', 'grown-' || n, md5(n::text),
    jsonb_build_object('deploymentId', 'dep_grown' || d, 'deploymentName', 'grown-' || d, 'revisionName', 'grown-00001', 'progressDeadlineSeconds', 600),
    '{"revision": "grown-00001", "strategy": "candidate"}', at, at, at
  from (select n, 1 + n % $3::int as d, now() - n * (interval '28 days' / $2::int) as at from generate_series(1, $2::int) n) as past`;

/** The three steps of each. */
export const FILL_FINISHED_STEPS = `
  insert into operation_steps (operation_id, tenant_id, name, index, status, started_at, completed_at)
  select 'op_grown' || n, $1, s.name, s.i - 1, 'succeeded', at, at
  from (select n, now() - n * (interval '28 days' / $2::int) as at from generate_series(1, $2::int) n) as past,
    unnest(array['validate', 'provision', 'await_ready']) with ordinality as s(name, i)`;

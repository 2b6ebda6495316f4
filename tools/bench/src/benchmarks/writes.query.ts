/*
 * All writes of one accepted rollout, as one function: the claim, the deployment's lock, the revision, the operation
 * with its steps, the outbox row, audit and events. It has no checks, no roles and no answer, so nothing that stores
 * these rows can be faster. A deployment keeps its revision if it has one, as ours does for an equal spec.
 */
export const LIMIT_FUNCTION = `
create or replace function bench_rollout(n int, deployment int, tenant text, body jsonb) returns void language plpgsql as $$
declare
  op text := 'op_bench' || n;
  rev text := 'rev_bench' || deployment;
  dep text := 'dep_bench' || deployment;
  who jsonb := '{"type":"token","id":"bench"}';
  told int;
  last bigint;
begin
  insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by, reason, method, path, idempotency_key, fingerprint,
    input, current_step, result)
  values (op, tenant, 'rollout', 'deployment', 'bench-' || deployment, dep, 'deployment/' || dep, who, 'bench', 'POST', '/bench/' || n, 'key-' || n, 'f', body, 'validate', '{}')
  on conflict (tenant_id, method, path, idempotency_key) where idempotency_key is not null do nothing;
  perform 1 from deployments where id = dep for update;
  insert into revisions (id, tenant_id, deployment_id, number, name, spec, spec_digest, source, created_by)
  values (rev, tenant, dep, 1, 'bench-00001', body->'spec', 'sha256:' || deployment, '{}', who)
  on conflict (deployment_id, number) do nothing;
  get diagnostics told = row_count;
  told := told + 1;
  update deployments set current_operation_id = op, candidate_revision_id = rev, state = 'progressing', version = version + 1, updated_at = now() where id = dep;
  insert into operation_steps (operation_id, tenant_id, name, index)
  select op, tenant, name, ordinality - 1 from unnest(array['validate', 'provision', 'await_ready']) with ordinality as s(name, ordinality);
  insert into outbox (tenant_id, operation_id, dispatch) values (tenant, op, 1);
  perform pg_notify('slipway_outbox', '');
  insert into audit_log (id, tenant_id, actor, action, resource_type, resource_name) values ('aud_bench' || n, tenant, 'token:bench', 'rollout.create', 'deployment', 'bench-' || deployment);
  insert into event_streams (stream, tenant_id, last_sequence) values ('deployment/' || dep, tenant, told)
  on conflict (stream) do update set last_sequence = event_streams.last_sequence + told returning last_sequence into last;
  insert into events (stream, sequence, tenant_id, id, type, subject, actor, operation_id, revision_id, data)
  select 'deployment/' || dep, last - told + s, tenant, 'evt_bench' || n || '-' || s, 'rollout.started', 'deployments/bench-' || deployment, 'token:bench', op, rev, '{}' from generate_series(1, told) s;
  perform pg_notify('slipway_events', 'deployment/' || dep);
end $$`;

/** The number of the deployment that all clients use at the same time. */
export const HOT = 1;

/*
 * A deployment has one rollout at a time, and a second one is refused. To have all of them accepted, each rollout of
 * this deployment ends at once.
 */
export const ROLLOUTS_END_AT_ONCE = `
create or replace function bench_end_rollout() returns trigger language plpgsql as $$
begin
  new.current_operation_id := null;
  return new;
end $$;
create trigger bench_end_rollout before update on deployments for each row when (new.name = 'bench-${HOT}') execute function bench_end_rollout()`;

export const ROLLOUTS_END_AS_EVER = 'drop trigger bench_end_rollout on deployments';

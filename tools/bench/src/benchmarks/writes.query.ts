/*
 * What one accepted rollout writes, as one function: the claim, the deployment's lock, the revision, the operation with its
 * steps, the outbox row, audit and events. No checks, no roles, no answer: nothing that keeps these rows can be faster.
 */
export const limitFunction = `
create or replace function bench_rollout(n int, tenant text, body jsonb) returns void language plpgsql as $$
declare
  op text := 'op_bench' || n;
  rev text := 'rev_bench' || n;
  dep text := 'dep_bench' || n;
  who jsonb := '{"type":"token","id":"bench"}';
begin
  insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by, reason, method, path, idempotency_key, fingerprint,
    input, current_step, result)
  values (op, tenant, 'rollout', 'deployment', 'bench-' || n, dep, 'deployment/' || dep, who, 'bench', 'POST', '/bench/' || n, 'key-' || n, 'f', body, 'validate', '{}')
  on conflict (tenant_id, method, path, idempotency_key) where idempotency_key is not null do nothing;
  perform 1 from deployments where id = dep for update;
  insert into revisions (id, tenant_id, deployment_id, number, name, spec, spec_digest, source, created_by)
  values (rev, tenant, dep, 1, 'bench-00001', body->'spec', 'sha256:' || n, '{}', who);
  update deployments set current_operation_id = op, candidate_revision_id = rev, state = 'progressing', version = version + 1, updated_at = now() where id = dep;
  insert into operation_steps (operation_id, tenant_id, name, index)
  select op, tenant, name, ordinality - 1 from unnest(array['validate', 'provision', 'await_ready']) with ordinality as s(name, ordinality);
  insert into outbox (tenant_id, operation_id, dispatch) values (tenant, op, 1);
  perform pg_notify('slipway_outbox', '');
  insert into audit_log (id, tenant_id, actor, action, resource_type, resource_name) values ('aud_bench' || n, tenant, 'token:bench', 'rollout.create', 'deployment', 'bench-' || n);
  insert into event_streams (stream, tenant_id, last_sequence) values ('deployment/' || dep, tenant, 2)
  on conflict (stream) do update set last_sequence = event_streams.last_sequence + 2;
  insert into events (stream, sequence, tenant_id, id, type, subject, actor, operation_id, revision_id, data)
  select 'deployment/' || dep, s, tenant, 'evt_bench' || n || '-' || s, 'rollout.started', 'deployments/bench-' || n, 'token:bench', op, rev, '{}' from generate_series(1, 2) s;
  perform pg_notify('slipway_events', 'deployment/' || dep);
end $$`;

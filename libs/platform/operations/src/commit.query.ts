import { prepared } from '@slipway/platform-database';

/*
 * Every write of a worker goes through this guard: it names the lease version it holds, and forward steps also stand aside
 * for a cancel, so that no step commits after a cancel was accepted. One who has seen the cancel ($23) runs no such step and
 * may still put the operation back. Nobody turns an unwinding operation forward again: a worker that was not told of its own
 * commit (the connection broke) would begin the way back a second time. Locks are taken in one order everywhere: deployment
 * (in the step's own commit), operation (here), event stream (last); requests do the same, so they cannot deadlock.
 *
 * The step that ends and the one that begins hang on the guard in the same statement: what it refuses touches no step.
 */
export const GUARD = prepared(
  'operation-guard',
  `with guarded as (
     update operations set
     status = $3, current_step = $4, current_step_status = $5, progress = greatest(progress, $6), attempt = $7, message = $8,
     awaiting = $9, is_resumed = false, wake_at = now() + make_interval(secs => $10::float8 / 1000), phase = $11, failure = $12,
     result = result || $13::jsonb, error_code = $14, retryable = $15, updated_at = now(),
     completed_at = case when $3 in ('succeeded','failed','cancelled') then now() end,
     lease_expires_at = case when $16::float8 is null then null else now() + make_interval(secs => $16) end
   where id = $1 and lease_version = $2 and status in ('running','waiting','cancelling')
     and ($11 = 'unwinding' or (phase = 'forward' and (not cancel_requested or $23)))
     returning id
   ), ended as (
     update operation_steps s set status = $18, completed_at = now(), message = $19, evidence = coalesce($20::jsonb, s.evidence), result = $21::jsonb, state = null,
       started_at = coalesce(s.started_at, now())
     from guarded where s.operation_id = guarded.id and s.name = $17
   ), begun as (
     update operation_steps s set status = 'running', started_at = coalesce(s.started_at, now()) from guarded where s.operation_id = guarded.id and s.name = $22
   )
   select id from guarded`,
);

export const STEP_SLEEP = prepared(
  'operation-step-sleep',
  `update operation_steps set status = $3, message = $4, state = $5::jsonb where operation_id = $1 and name = $2`,
);
export const STEPS_UNDONE = prepared(
  'operation-steps-undone',
  `update operation_steps set status = 'pending', completed_at = null where operation_id = $1 and not is_unwind and status in ('succeeded','skipped') and split_part(name, ':', 1) = any($2)`,
);

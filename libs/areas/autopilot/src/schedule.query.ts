import { prepared } from '@slipway/platform-database';

/** A new policy is looked at at once, and what the old one had been told counts no more. */
export const WATCH = prepared(
  'autopilot-watch',
  `insert into autopilot_schedules (deployment_id, tenant_id, deployment_name) values ($1, $2, $3)
   on conflict (deployment_id) do update set next_run_at = now(), told = '{}'`,
);
export const UNWATCH = prepared('autopilot-unwatch', `delete from autopilot_schedules where deployment_id = $1`);

export const DUE = prepared(
  'autopilot-due',
  `select deployment_id "deploymentId", tenant_id "tenantId", deployment_name "deploymentName" from autopilot_schedules
   where next_run_at <= now() order by next_run_at limit $1`,
);

/** Of several workers that found the row due, the first takes it; the others find it no longer due. */
export const TAKE = prepared(
  'autopilot-take',
  `update autopilot_schedules set next_run_at = now() + make_interval(secs => $2), last_run_at = now() where deployment_id = $1 and next_run_at <= now() returning told`,
);
export const TELL = prepared(
  'autopilot-tell',
  `update autopilot_schedules set told = told || $2::jsonb where deployment_id = $1`,
);

import { prepared } from '@slipway/platform-database';

/**
 * A new policy is reviewed at once, and earlier reports under the old one no longer count. One statement, whether or
 * not the deployment was watched before.
 */
export const WATCH_DEPLOYMENT = prepared(
  'autopilot-watch',
  `insert into autopilot_schedules (deployment_id, tenant_id, deployment_name) values ($1, $2, $3)
   on conflict (deployment_id) do update set next_run_at = now(), told = '{}'`,
);
/** Every worker runs this once a second; due by the clock of the database. */
export const DUE_SCHEDULES = prepared(
  'autopilot-due',
  `select deployment_id "deploymentId", tenant_id "tenantId", deployment_name "deploymentName" from autopilot_schedules
   where next_run_at <= now() order by next_run_at limit $1`,
);

/** Of several workers that found the row due, the first takes it. The others find it no longer due. */
export const TAKE_SCHEDULE = prepared(
  'autopilot-take',
  `update autopilot_schedules set next_run_at = now() + make_interval(secs => $2), last_run_at = now() where deployment_id = $1 and next_run_at <= now() returning told`,
);

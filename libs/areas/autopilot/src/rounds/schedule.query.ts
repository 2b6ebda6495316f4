import { prepared } from '@slipway/platform-database';

/** A new policy is looked at at once, and what the old one had been told counts no more; one statement, whether it was watched or not. */
export const WATCH_DEPLOYMENT = prepared(
  'autopilot-watch',
  `insert into autopilot_schedules (deployment_id, tenant_id, deployment_name) values ($1, $2, $3)
   on conflict (deployment_id) do update set next_run_at = now(), told = '{}'`,
);
/** Asked by every worker once a second; due by the clock of the database. */
export const DUE_SCHEDULES = prepared(
  'autopilot-due',
  `select deployment_id "deploymentId", tenant_id "tenantId", deployment_name "deploymentName" from autopilot_schedules
   where next_run_at <= now() order by next_run_at limit $1`,
);

/** Of several workers that found the row due, the first takes it; the others find it no longer due. */
export const TAKE_SCHEDULE = prepared(
  'autopilot-take',
  `update autopilot_schedules set next_run_at = now() + make_interval(secs => $2), last_run_at = now() where deployment_id = $1 and next_run_at <= now() returning told`,
);

import { prepared } from '@slipway/platform-database';

/** Inserts and updates at once; a worker that takes over what it finds so leaves the time of the change. */
export const NOTE_HEALTH = prepared(
  'targets-note-health',
  `insert into target_health as h (target, problem) values ($1, $2)
   on conflict (target) do update set problem = excluded.problem, changed_at = now() where h.problem is distinct from excluded.problem`,
);

import { prepared } from '@slipway/platform-database';

/** Deployments rarely have more than one plan whose outcome is due. */
const DUE_AT_ONCE = 4;
/** More plans would not narrow an interval. */
const MOST_SCORES = 200;
const MOST_ROWS_A_KIND = 500;
const MOST_IDEAS = 100;

/**
 * A rollout that is retried, or repeated after a rollback, may promote the plan after all. A late event of an earlier
 * attempt that failed changes nothing.
 */
export const NOTE_EXECUTION = prepared(
  'plan-outcomes-note',
  `with noted as (
     insert into autopilot_plan_executions as e (plan_id, tenant_id, deployment_id, revision_id, promoted_at)
     select id, tenant_id, deployment_id, $3, case when $4 then now() end from autopilot_plans where tenant_id = $1 and id = $2
     on conflict (plan_id) do update
       set revision_id = excluded.revision_id, promoted_at = excluded.promoted_at, phase = 'promotion', due_at = now(), needs_revert = false
       where $4
     returning plan_id
   )
   delete from autopilot_plan_outcomes o using noted where o.plan_id = noted.plan_id and o.result = 'rolled_back'`,
);

/** Joins the parts of the plan's document that an outcome needs, and takes executions whose revision was replaced. */
export const DUE_OUTCOMES = prepared(
  'plan-outcomes-due',
  `select e.plan_id "planId", e.revision_id "revisionId", e.promoted_at "promotedAt", e.phase, p.content_digest "contentDigest",
     p.base_revision_id "baseRevisionId", p.content->>'kind' kind,
     jsonb_build_object('assumes', p.content->'assumes', 'predicted_impact', p.content->'predicted_impact', 'evidence', p.content->'evidence') content
   from autopilot_plan_executions e join autopilot_plans p on p.id = e.plan_id
   where e.deployment_id = $1 and e.phase <> 'done' and (e.due_at <= now() or e.revision_id is distinct from $2) order by e.due_at limit ${DUE_AT_ONCE}`,
);

/** By the clock of the database, and only while the phase is the same. */
export const POSTPONE_OUTCOME = prepared(
  'plan-outcomes-postpone',
  `update autopilot_plan_executions set due_at = now() + make_interval(secs => $3) where plan_id = $1 and phase = $2`,
);

/** The phase is the fence: a phase that was recorded is not recorded again, and its rows are written with the change of the phase. */
export const RECORD_OUTCOME = prepared(
  'plan-outcomes-record',
  `with moved as (
     update autopilot_plan_executions set phase = $3, due_at = coalesce($4::timestamptz, due_at), needs_revert = needs_revert or $5
     where plan_id = $1 and phase = $2 returning plan_id, tenant_id, deployment_id
   ), written as (
     insert into autopilot_plan_outcomes (plan_id, phase, metric, stat, tenant_id, deployment_id, kind, now, predicted, achieved, within, log_error, result, has_moved, assumptions_hold)
     select m.plan_id, $2, r.metric, r.stat, m.tenant_id, m.deployment_id, coalesce(p.content->>'kind', 'manual'), r.now, r.predicted, r.achieved, r.within, r."logError", r.result, r."hasMoved", $7::boolean
     from moved m join autopilot_plans p on p.id = m.plan_id cross join
       jsonb_to_recordset($6::jsonb) as r(metric text, stat text, now float8, predicted jsonb, achieved jsonb, within boolean, "logError" float8, result text, "hasMoved" boolean)
     on conflict do nothing
   )
   select 1 as found from moved`,
);

const VALUES = `o.metric, o.stat, o.now, o.predicted, o.achieved, o.within, o.log_error "logError", o.result, o.has_moved "hasMoved"`;

/** Aggregates all outcomes of the plan in the same statement. */
export const PLAN_TO_REVERT = prepared(
  'plan-outcomes-to-revert',
  `select p.id "planId", p.content->>'summary' summary, p.content->'changes' changes, p.content->'assumes' assumes, p.content->'predicted_impact' "predictedImpact",
     (select coalesce(jsonb_agg(jsonb_build_object('at', o.at, 'metric', o.metric, 'stat', o.stat, 'now', o.now, 'predicted', o.predicted, 'achieved', o.achieved,
        'within', o.within, 'logError', o.log_error, 'result', o.result, 'hasMoved', o.has_moved) order by o.at, o.metric, o.stat), '[]')
      from autopilot_plan_outcomes o where o.plan_id = p.id) outcomes
   from autopilot_plan_executions e join autopilot_plans p on p.id = e.plan_id
   where e.deployment_id = $1 and e.revision_id = $2 and e.needs_revert and e.revert_plan_id is null order by e.promoted_at desc limit 1`,
);

/** A union of outcomes and decisions, both bounded. */
export const FAILED_IDEAS = prepared(
  'plan-outcomes-failed-ideas',
  `(select p.idea_key "key", p.id "planId", o.result, o.at from autopilot_plan_outcomes o join autopilot_plans p on p.id = o.plan_id
    where o.deployment_id = $1 and o.result in ('worse','no_effect') and o.at > now() - make_interval(secs => $2) and p.idea_key is not null
    order by o.at desc limit ${MOST_IDEAS})
   union all
   (select p.idea_key, p.id, d.decision, d.at from autopilot_plans p join autopilot_plan_decisions d on d.plan_id = p.id
    where p.deployment_id = $1 and d.decision = 'rejected' and d.at > now() - make_interval(secs => $2) and p.idea_key is not null
    order by p.id desc limit ${MOST_IDEAS})
   order by 4 desc`,
);

/** Predictions of people, and those of reverts, which repeat a measured value, say nothing about the autopilot's model. */
export const CALIBRATION_SCORES = prepared(
  'plan-outcomes-scores',
  `select max(abs(log_error)) score from (
     select k.kind, o.plan_id, o.log_error, o.at from unnest('{scale_up,scale_down,retarget}'::text[]) k(kind) cross join lateral (
       select plan_id, log_error, at from autopilot_plan_outcomes
       where tenant_id = $1 and kind = k.kind and log_error is not null and has_moved order by at desc limit ${MOST_SCORES * 4}) o
   ) newest group by plan_id order by max(at) desc limit ${MOST_SCORES}`,
);

/** A lateral join bounds the rows of each kind. */
export const CALIBRATION_ROWS = prepared(
  'plan-outcomes-calibration',
  `select o.plan_id "planId", p.deployment_name deployment, k.kind, o.phase, o.at, ${VALUES}
   from unnest('{scale_up,scale_down,retarget,revert,manual}'::text[]) k(kind) cross join lateral (
     select * from autopilot_plan_outcomes where tenant_id = $1 and kind = k.kind and log_error is not null order by at desc limit ${MOST_ROWS_A_KIND}) o
   join autopilot_plans p on p.id = o.plan_id order by o.at desc, o.plan_id, o.phase, o.metric, o.stat`,
);

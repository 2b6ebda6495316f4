import { isBetween, locking, prepared, type LargeColumns, withinBytes } from '@slipway/platform-database';

/*
 * A plan's state follows from its decisions and the clock; nothing stores it. At most one row ends a plan, and none
 * ends one that was approved, because every decision is made under the plan's row lock. Approvals are counted by
 * owners: approvals from before tokens had owners may be several rows of one owner.
 */
const COLUMNS = `p.id, p.tenant_id "tenantId", p.deployment_id "deploymentId", p.deployment_name "deploymentName", p.base_revision_id "baseRevisionId",
  p.spec_digest "specDigest", p.content, p.content_digest "contentDigest", p.approvals_required "approvalsRequired",
  p.prevent_self_approval "preventSelfApproval", p.require_hosted_identity "requireHostedIdentity",
  jsonb_build_object('actor', p.created_by, 'owner', p.creator_owner, 'minters', p.creator_minters) creator, p.expires_at <= now() "isPastExpiry", d.version, d.decisions, s.state`;
const LEARNED_COLUMNS = `${COLUMNS}, o.outcomes, o.assumptions_hold "assumptionsHold"`;

const SOURCE = `autopilot_plans p
  cross join lateral (
    select count(*)::int as version, count(distinct owner) filter (where decision = 'approved') as approved, max(decision) filter (where decision <> 'approved') as ending,
      coalesce(jsonb_agg(jsonb_build_object('decision', decision, 'by', actor || jsonb_build_object('owner', owner), 'at', slipway_rfc3339(at), 'comment', comment, 'digest', digest) order by id), '[]') as decisions
    from autopilot_plan_decisions where plan_id = p.id
  ) d
  cross join lateral (
    select coalesce(d.ending, case when d.approved >= p.approvals_required then 'approved' when p.expires_at <= now() then 'expired' else 'pending' end) as state
  ) s`;

const LEARNED = `${SOURCE}
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('phase', phase, 'at', slipway_rfc3339(at), 'metric', metric, 'stat', stat, 'now', now, 'predicted', predicted,
        'achieved', achieved, 'within', within, 'log_error', log_error, 'result', result) order by at, phase, metric, stat), '[]') as outcomes,
      (array_agg(assumptions_hold order by at desc))[1] as assumptions_hold
    from autopilot_plan_outcomes where plan_id = p.id
  ) o`;

/** Postgres counts and gathers the decisions of a plan. The state follows from them and from the database's clock. */
export const FIND_PLAN = prepared(
  'plans-find',
  `select ${LEARNED_COLUMNS} from ${LEARNED} where p.tenant_id = $1 and p.id = $2`,
);

/** A statement of its own: only the next statement sees the decision of the transaction that this one waited for. */
export const LOCK_PLAN = locking(
  'plan',
  prepared('plans-lock', `select 1 as found from autopilot_plans where tenant_id = $1 and id = $2 for update`),
  ([, id]) => [id as string],
);

const LARGE: LargeColumns = { content: 'jsonb', decisions: 'jsonb', creator: 'jsonb', outcomes: 'jsonb' };

const listPlans = (past: '<' | '>', order: 'asc' | 'desc'): string =>
  `select * from ${withinBytes(
    'page',
    `select ${LEARNED_COLUMNS} from ${LEARNED}
     where p.tenant_id = $1 and ($2::text is null or p.deployment_name = $2) and ($3::text is null or s.state = $3)
       and ($4::text is null or p.id ${past} $4) and ${isBetween('p.created_at', '$6', '$7')}
     order by p.id ${order}`,
    '$5',
    LARGE,
  )} order by page_row`;

/** The same for many plans at once, in each order; the state is a condition. */
export const LIST_PLANS = {
  desc: prepared('plans-list', listPlans('<', 'desc')),
  asc: prepared('plans-list-oldest', listPlans('>', 'asc')),
};

/**
 * Plans that wait for people, or were approved, have not expired and were not promoted: one that was taken back waits for
 * nothing, although its base is active again. The state is a condition here,
 * too. Their contents, each as large as a request, are not read.
 */
export const OPEN_PLANS = prepared(
  'plans-open',
  `select p.id, p.tenant_id "tenantId", p.base_revision_id "baseRevisionId", p.created_by "createdBy"
   from ${SOURCE} where p.deployment_id = $1 and p.expires_at > now() and s.state in ('pending','approved')
     and not exists (select 1 from autopilot_plan_executions e where e.plan_id = p.id and e.promoted_at is not null) order by p.id`,
);

/** The autopilot's proposals for a deployment in the last $2 days: one pass that counts and sums. */
export const COUNT_PROPOSALS = prepared(
  'plans-count-proposals',
  `select count(*) filter (where created_at > now() - make_interval(days => $2))::int as "inPeriod", max(created_at) as "lastAt",
     coalesce(sum((content->'predicted_impact'->>'gpu_hours')::float8) filter (where created_at > now() - make_interval(days => $2)), 0) as "gpuHours"
   from autopilot_plans where deployment_id = $1 and created_by->>'type' = 'system'`,
);

/** Locks the rows, and skips a plan that another transaction is deciding. */
export const OVERDUE_PLANS = locking(
  'plan',
  prepared(
    'plans-overdue',
    `select p.tenant_id "tenantId", p.id from autopilot_plans p
   where p.expires_at <= now() and p.expires_at > now() - interval '1 day'
     and not exists (select 1 from autopilot_plan_decisions d where d.plan_id = p.id and d.decision <> 'approved')
     and (select count(distinct d.owner) from autopilot_plan_decisions d where d.plan_id = p.id) < p.approvals_required
   order by p.expires_at limit 50 for update skip locked`,
  ),
  () => [],
);

/** Deletes a bounded number with their decisions. */
export const DELETE_PLANS = prepared(
  'plans-delete',
  `with gone as (
     delete from autopilot_plans where id = any(array(
       select id from autopilot_plans where expires_at < now() - make_interval(days => $1) order by expires_at limit $2 for update skip locked))
     returning 1
   )
   select count(*)::int as count from gone`,
);

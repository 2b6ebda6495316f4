import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What executed plans achieved, next to the plans: the frozen content and its digest stay as they are. */
export class PlanOutcomes1700000000807 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table autopilot_plans add column idea_key text`);
    await runner.query(`
      create table autopilot_plan_executions (
        plan_id text primary key references autopilot_plans (id) on delete cascade,
        tenant_id text not null,
        deployment_id text not null,
        revision_id text not null,
        promoted_at timestamptz,
        phase text not null default 'promotion' check (phase in ('promotion','window','done')),
        due_at timestamptz not null default now(),
        needs_revert boolean not null default false,
        revert_plan_id text
      )`);
    await runner.query(
      `create index autopilot_plan_executions_due on autopilot_plan_executions (deployment_id, due_at) where phase <> 'done' or needs_revert`,
    );
    await runner.query(`
      create table autopilot_plan_outcomes (
        plan_id text not null references autopilot_plans (id) on delete cascade,
        phase text not null check (phase in ('promotion','window')),
        metric text not null,
        stat text not null,
        tenant_id text not null,
        deployment_id text not null,
        kind text not null,
        at timestamptz not null default now(),
        now float8,
        predicted jsonb,
        achieved jsonb,
        within boolean,
        log_error float8,
        result text check (result in ('as_predicted','better','worse','no_effect','assumptions_moved','rolled_back')),
        has_moved boolean not null,
        assumptions_hold boolean,
        primary key (plan_id, phase, metric, stat)
      )`);
    await runner.query(
      `create index autopilot_plan_outcomes_newest on autopilot_plan_outcomes (tenant_id, kind, at desc) where log_error is not null`,
    );
    await runner.query(
      `create index autopilot_plan_outcomes_failed on autopilot_plan_outcomes (deployment_id, at desc) where result in ('worse','no_effect')`,
    );
    for (const table of ['autopilot_plan_executions', 'autopilot_plan_outcomes'])
      await runner.query(`select slipway_tenant_table('${table}')`);
    const comments: Record<string, string> = {
      'table autopilot_plan_executions': 'Executed plans, and when which outcome is due',
      'column autopilot_plan_executions.promoted_at':
        'When its revision became active; null if the rollout restored the previous route',
      'column autopilot_plan_executions.phase': 'The outcome that is recorded next',
      'column autopilot_plan_executions.due_at': 'When it is due, or is due again',
      'column autopilot_plan_executions.needs_revert':
        'Whether the plan made things worse while its revision is active',
      'column autopilot_plan_executions.revert_plan_id': 'The plan that takes it back; there is at most one',
      'table autopilot_plan_outcomes': 'What executed plans achieved; one row for each phase, metric and statistic',
      'column autopilot_plan_outcomes.kind': 'Kind of the plan',
      'column autopilot_plan_outcomes.now': 'Value before the plan, as the plan states it',
      'column autopilot_plan_outcomes.predicted': '{value, low, high}, as the plan states it',
      'column autopilot_plan_outcomes.achieved': '{value, low, high, n}; null if nothing was measured',
      'column autopilot_plan_outcomes.log_error': 'ln(achieved / predicted); null if it does not count for calibration',
      'column autopilot_plan_outcomes.result': 'Null: too few samples came in time',
      'column autopilot_plan_outcomes.has_moved':
        'Whether the predicted or the achieved value differs from the one before by at least a fifth',
      'column autopilot_plans.idea_key':
        'Digest of what is tried on which service; null in plans that are older than it',
    };
    for (const [what, text] of Object.entries(comments)) await runner.query(`comment on ${what} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table autopilot_plan_outcomes');
    await runner.query('drop table autopilot_plan_executions');
    await runner.query('alter table autopilot_plans drop column idea_key');
  }
}

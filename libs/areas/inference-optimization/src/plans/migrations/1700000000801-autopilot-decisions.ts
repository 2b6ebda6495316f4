import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AutopilotDecisions1700000000801 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table autopilot_plan_decisions (
        id bigint generated always as identity primary key,
        tenant_id text not null,
        plan_id text not null references autopilot_plans (id) on delete cascade,
        decision text not null check (decision in ('approved','rejected','expired','superseded')),
        actor jsonb not null,
        comment text,
        digest text not null,
        at timestamptz not null default clock_timestamp()
      )`);
    await runner.query(
      `create unique index autopilot_plan_approvals on autopilot_plan_decisions (plan_id, (actor->>'type'), (actor->>'id')) where decision = 'approved'`,
    );
    await runner.query(
      `create unique index autopilot_plan_endings on autopilot_plan_decisions (plan_id) where decision <> 'approved'`,
    );
    await runner.query(`select slipway_tenant_table('autopilot_plan_decisions')`);
    const comments: Record<string, string> = {
      id: 'Order of the decisions',
      tenant_id: 'Tenant of the plan',
      plan_id: 'Plan; the number of its rows is its approval version',
      decision: 'approved: one row a person; the others end a plan that was not approved',
      actor: '{type, id} of who decided; the system where a plan expired or was superseded',
      comment: 'What the person said',
      digest: 'Content digest the decision is bound to',
      at: 'When',
    };
    await runner.query(
      `comment on table autopilot_plan_decisions is 'What people, and the clock, decided about plans; rows are only added'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column autopilot_plan_decisions.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table autopilot_plan_decisions');
  }
}

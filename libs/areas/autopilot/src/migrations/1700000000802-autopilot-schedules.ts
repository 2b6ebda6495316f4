import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AutopilotSchedules1700000000802 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table autopilot_schedules (
        deployment_id text primary key,
        tenant_id text not null,
        deployment_name text not null,
        next_run_at timestamptz not null default now(),
        last_run_at timestamptz,
        told jsonb not null default '{}'
      ) with (fillfactor = 70)`);
    await runner.query(`create index autopilot_schedules_due on autopilot_schedules (next_run_at)`);
    await runner.query(`select slipway_tenant_table('autopilot_schedules')`);
    const comments: Record<string, string> = {
      deployment_id: 'Deployment whose policy asks to be looked after',
      tenant_id: 'Its tenant',
      deployment_name: 'Its name',
      next_run_at: 'When the autopilot looks next',
      last_run_at: 'When it looked last',
      told: 'The newest event of each kind, {kind: {key, at}}: the same is not told again at every look',
    };
    await runner.query(`comment on table autopilot_schedules is 'Due rows of the autopilot'`);
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column autopilot_schedules.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table autopilot_schedules');
  }
}

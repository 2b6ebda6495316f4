import type { MigrationInterface, QueryRunner } from 'typeorm';

export class FailedStarts1700000000436 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table workloads add column last_failed_start jsonb, add column last_failed_start_at timestamptz`,
    );
    await runner.query(
      `create index workloads_failed_starts on workloads (deployment_id) where last_failed_start is not null`,
    );
    await runner.query(`alter table instances add column crashes int not null default 0`);
    const columns = {
      'workloads.last_failed_start':
        'The last start that failed, with its cause and last lines; null once a start is ready',
      'workloads.last_failed_start_at': 'When it failed',
      'instances.crashes': 'Those of its restarts that ended a life in which it was ready',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column ${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table workloads drop column last_failed_start, drop column last_failed_start_at`);
    await runner.query(`alter table instances drop column crashes`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'table target_health':
    'Whether a target as a whole can be worked with, of those that tell; written by the worker that leads the target, when it changes',
  'column target_health.target': 'Execution target',
  'column target_health.problem': 'What is missing, for operators; null while nothing is',
  'column target_health.changed_at': 'Since when',
};

export class TargetHealth1700000000431 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table target_health (
        target text primary key,
        problem text,
        changed_at timestamptz not null default now()
      )`);
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_system_table('target_health')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table target_health');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENT =
  'When the adopted server was first seen to have the model of the revision; one that has it no more has drifted';

export class InstanceModels1700000000412 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table instances add column model_seen_at timestamptz');
    await runner.query(`comment on column instances.model_seen_at is '${COMMENT}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table instances drop column model_seen_at');
  }
}

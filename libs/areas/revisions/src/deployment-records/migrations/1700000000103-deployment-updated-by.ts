import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Null in rows of before, and where a process of the release before has created it. */
export class DeploymentUpdatedBy1700000000103 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments add column updated_by jsonb');
    await runner.query(
      `comment on column deployments.updated_by is 'Who last changed its settings; null: not known, or nobody since its creation'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments drop column updated_by');
  }
}

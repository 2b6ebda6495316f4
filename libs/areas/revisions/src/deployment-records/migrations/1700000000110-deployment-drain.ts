import type { MigrationInterface, QueryRunner } from 'typeorm';

/** With a default, because processes of the previous release create deployments without it. */
export class DeploymentDrain1700000000110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments add column drain_seconds int not null default 600');
    await runner.query(
      `comment on column deployments.drain_seconds is 'How long a leaving instance may wait for its requests'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments drop column drain_seconds');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DeploymentScaling1700000000102 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments add column scaling jsonb');
    await runner.query(
      `comment on column deployments.scaling is 'What it overrides of its revisions: {min_replicas, max_replicas, target_in_flight, scale_down_after_seconds, idle_seconds}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments drop column scaling');
  }
}

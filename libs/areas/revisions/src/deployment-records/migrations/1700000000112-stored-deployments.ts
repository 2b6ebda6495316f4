import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deployments count with everything that a request sets. */
export class StoredDeployments1700000000112 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('deployments', array['name', 'display_name', 'description', 'labels', 'environment', 'default_strategy', 'default_analysis', 'protection', 'scaling', 'media_urls'], null, false)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('deployments')`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each version of a policy counts. */
export class StoredPolicies1700000000701 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('optimization_policies', array['content'], 'policy_versions', false)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('optimization_policies')`);
  }
}

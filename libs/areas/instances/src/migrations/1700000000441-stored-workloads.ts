import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A workload keeps the spec of its revision, also after the revision is deleted. */
export class StoredWorkloads1700000000441 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_count_stored('workloads', array['spec'], null, true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('workloads')`);
  }
}

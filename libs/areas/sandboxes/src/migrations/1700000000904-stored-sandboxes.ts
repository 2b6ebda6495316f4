import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rows of sandboxes count, not the files themselves, which have the quota sandbox_bytes. */
export class StoredSandboxes1700000000904 implements MigrationInterface {
  /** One table at a time: locks on several would meet transactions that hold one and wait for another. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_count_stored('sandboxes', array['labels'], null, false)`);
    await runner.query(
      `select slipway_count_stored('sandbox_references', array['base_url', 'external_id', 'credential'], 'sandbox_references', false)`,
    );
    await runner.query(`select slipway_count_stored('sandbox_files', array['path'], null, false)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('sandboxes')`);
    await runner.query(`select slipway_uncount_stored('sandbox_references')`);
    await runner.query(`select slipway_uncount_stored('sandbox_files')`);
  }
}

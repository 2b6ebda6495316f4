import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Revisions count with their specs, and activations as records of rollouts. */
export class StoredRevisions1700000000204 implements MigrationInterface {
  /** One table at a time: locks on several would meet transactions that hold one and wait for another. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('revisions', array['spec', 'source', 'change_ref', 'message'], null, false)`,
    );
    await runner.query(`select slipway_count_stored('revision_activations', array[]::text[], null, true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('revisions')`);
    await runner.query(`select slipway_uncount_stored('revision_activations')`);
  }
}

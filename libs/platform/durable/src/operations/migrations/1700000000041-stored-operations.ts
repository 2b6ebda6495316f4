import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operations count with what their requests contain. Progress and results are written by Slipway and are short. */
export class StoredOperations1700000000041 implements MigrationInterface {
  /** One table at a time: locks on several would meet transactions that hold one and wait for another. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('operations', array['idempotency_key', 'input', 'path', 'pause', 'promotion', 'reason', 'cancel_reason'], null, true)`,
    );
    await runner.query(`select slipway_count_stored('operation_steps', array['evidence', 'result'], null, true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('operations')`);
    await runner.query(`select slipway_uncount_stored('operation_steps')`);
  }
}

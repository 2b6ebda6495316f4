import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Idempotency-Keys count with their answers. */
export class StoredKeys1700000000039 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('idempotency_keys', array['path', 'key', 'headers', 'answer'], 'idempotency_keys', true)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('idempotency_keys')`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tokens count in what a tenant stores, also after they end, because their rows stay. */
export class StoredTokens1700000000015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_count_stored('api_tokens', array['name', 'minters'], null, false)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('api_tokens')`);
  }
}

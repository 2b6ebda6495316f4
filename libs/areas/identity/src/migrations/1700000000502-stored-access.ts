import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Mappings of hosted identities count, also revoked ones. */
export class StoredAccess1700000000502 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('console_access', array['external_organization_id', 'external_user_id', 'display_name', 'scopes'], 'console_access', false)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('console_access')`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a tenant's deliveries that wait are counted by. */
export class PendingOfTenant1700000001403 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index webhook_deliveries_pending_of_tenant on webhook_deliveries (tenant_id) where status = 'pending'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index webhook_deliveries_pending_of_tenant');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks count with their lists. Deliveries have rows of a bounded size. */
export class StoredWebhooks1700000001404 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('webhooks', array['url', 'description', 'event_types', 'deployments', 'streams'], null, false)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('webhooks')`);
  }
}

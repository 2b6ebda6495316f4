import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events count in what a tenant stores. */
export class StoredEvents1700000000040 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_count_stored('events', array['subject', 'data'], null, true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('events')`);
  }
}

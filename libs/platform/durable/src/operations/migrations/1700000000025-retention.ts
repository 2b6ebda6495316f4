import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Retention1700000000025 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index operations_ended on operations (completed_at) where completed_at is not null`);
    await runner.query(`create index idempotency_keys_oldest on idempotency_keys (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index idempotency_keys_oldest');
    await runner.query('drop index operations_ended');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which request made it, so that what people see of it leads to its log lines and its audit row. */
export class OperationRequest1700000000033 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operations add column request_id text');
    await runner.query(
      `comment on column operations.request_id is 'Of the request that made it; null where none did, and for those of before'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operations drop column request_id');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `to_char` is stable, and Postgres puts the body of a function in place of its call only where the function promises no more than that.
 * Called, it costs some microseconds for every time in an answer, also for those that are null: a third of a list of operations.
 */
export class TimestampsInlined1700000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter function slipway_rfc3339(timestamptz) stable');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter function slipway_rfc3339(timestamptz) immutable');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A step is written twice after it was made, as a rule while its page is still being filled. Where that page has room for it, no index changes.
 * It counts for new pages; nothing is rewritten.
 */
export class StepRoom1700000000036 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operation_steps set (fillfactor = 70)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operation_steps reset (fillfactor)');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why somebody cancelled it: whoever finds it cancelled asks that first. */
export class CancelReason1700000000034 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operations add column cancel_reason text');
    await runner.query(
      `comment on column operations.cancel_reason is 'In the words of who asked for the cancel; null where nobody did, or said none'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operations drop column cancel_reason');
  }
}

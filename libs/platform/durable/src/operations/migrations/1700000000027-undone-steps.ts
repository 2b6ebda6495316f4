import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A step that was undone says so. Rows of before keep `pending`, which a retry treats alike. */
export class UndoneSteps1700000000027 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table operation_steps drop constraint operation_steps_status_check`);
    await runner.query(
      `alter table operation_steps add constraint operation_steps_status_check
         check (status in ('pending','running','waiting','succeeded','failed','skipped','cancelled','undone'))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`update operation_steps set status = 'pending', completed_at = null where status = 'undone'`);
    await runner.query(`alter table operation_steps drop constraint operation_steps_status_check`);
    await runner.query(
      `alter table operation_steps add constraint operation_steps_status_check
         check (status in ('pending','running','waiting','succeeded','failed','skipped','cancelled'))`,
    );
  }
}

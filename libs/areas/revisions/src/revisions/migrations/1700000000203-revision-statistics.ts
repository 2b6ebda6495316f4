import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Statistics of a table that holds one deployment's revisions say that a deployment has them all, and until the next ones the table is read
 * whole for any other. So what they believe is given: each of ten revisions has its deployment. It counts from the next `analyze` on.
 */
export class RevisionStatistics1700000000203 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table revisions alter column deployment_id set (n_distinct = -0.1)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table revisions alter column deployment_id reset (n_distinct)');
  }
}

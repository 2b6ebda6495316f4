import type { MigrationInterface, QueryRunner } from 'typeorm';

/** So that a metric can show how old the last back-up is. */
export class LastBackup1700000000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table last_backup (
        is_only boolean primary key default true check (is_only),
        taken_at timestamptz not null
      )`);
    await runner.query(
      `comment on table last_backup is 'The last complete back-up by the command of Slipway: one row'`,
    );
    await runner.query(`comment on column last_backup.is_only is 'Makes a second row impossible'`);
    await runner.query(`comment on column last_backup.taken_at is 'The moment of which the back-up has every table'`);
    await runner.query(`select slipway_system_table('last_backup')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table last_backup');
  }
}

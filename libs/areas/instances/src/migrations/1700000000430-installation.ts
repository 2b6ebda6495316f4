import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'table installation':
    'One row: which Slipway this database is of. What runs outside of it is marked with the id, so that two that share a cluster leave each other alone, and one that was restored from a back-up knows its own again',
  'column installation.id': 'Never changes',
  'column installation.created_at': 'When the migration ran that wrote it',
};

/** The row is written here and nowhere else: two processes that start at once must not make up two. */
export class Installation1700000000430 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table installation (
        id uuid primary key default gen_random_uuid(),
        created_at timestamptz not null default now()
      )`);
    await runner.query('create unique index installation_one_row on installation ((true))');
    // Before row-level security, which is forced on the owner too.
    await runner.query('insert into installation default values');
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_system_table('installation')`);
    await runner.query('revoke insert, update, delete on installation from slipway_system');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table installation');
  }
}

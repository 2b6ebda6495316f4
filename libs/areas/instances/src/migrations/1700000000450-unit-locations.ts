import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where the unit of an instance may be, whatever the operator's file names now, and units that belong to no instance.
 * The previous release writes neither: the reconciler adds the location of an instance that has none.
 */
export class UnitLocations1700000000450 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances add column made_at jsonb`);
    await runner.query(`
      create table target_unknown_units (
        target text primary key,
        found jsonb not null,
        changed_at timestamptz not null default now()
      )`);
    const comments = {
      'column instances.made_at':
        'Locations in which units of the instance may have been made, the newest last; null for none, or for one that the previous release started',
      'table target_unknown_units':
        'Units with the marks of this installation that no row knows; written by the worker that leads the target, when it changes',
      'column target_unknown_units.target': 'Execution target whose driver found them',
      'column target_unknown_units.found': 'List of groups, each with the command that removes it',
      'column target_unknown_units.changed_at': 'Since when',
    };
    for (const [what, text] of Object.entries(comments)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_system_table('target_unknown_units')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table target_unknown_units');
    await runner.query('alter table instances drop column made_at');
  }
}

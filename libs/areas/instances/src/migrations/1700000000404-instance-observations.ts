import type { MigrationInterface, QueryRunner } from 'typeorm';

export class InstanceObservations1700000000404 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table instances add column incarnation text, add column reason text, add column place text`,
    );
    await runner.query(
      `comment on column instances.incarnation is 'The life of its server that was seen last; where the target restarts by itself, another one is a restart'`,
    );
    await runner.query(
      `comment on column instances.reason is 'Why it is in this state, from a closed list, as the target sees it'`,
    );
    await runner.query(`comment on column instances.place is 'Where it runs within the target, such as a node'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances drop column incarnation, drop column reason, drop column place`);
  }
}

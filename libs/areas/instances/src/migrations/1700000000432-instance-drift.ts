import type { MigrationInterface, QueryRunner } from 'typeorm';

export class InstanceDrift1700000000432 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances add column drift text`);
    await runner.query(
      `comment on column instances.drift is 'What somebody else has changed of this generation at its target, as it was told last; null where nothing'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances drop column drift`);
  }
}

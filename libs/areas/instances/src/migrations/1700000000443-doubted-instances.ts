import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Servers that may still answer although their target reports that they do not run, or will not for long. */
export class DoubtedInstances1700000000443 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table instances add column ending_url text, add column doubted boolean not null default false`,
    );
    const comments = {
      'instances.ending_url':
        'The address of an earlier server of this generation that still answers while it is being ended',
      'instances.doubted': 'Its state may be a fault of the observer, so gateways decide by their own evidence',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column ${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances drop column doubted, drop column ending_url`);
  }
}

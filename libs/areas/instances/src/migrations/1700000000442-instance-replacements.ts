import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A restart of a deployment replaces running instances one after the other, with one more instance if there is capacity. */
export class InstanceReplacements1700000000442 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table workloads add column spare int not null default 0`);
    await runner.query(`alter table instances add column replace_drain_seconds float8`);
    const comments = {
      'workloads.spare': 'Instances in addition to replicas, while a restart replaces the others',
      'instances.replace_drain_seconds':
        'Set until it has stopped for its next generation: how long its requests in flight may take at most',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column ${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances drop column replace_drain_seconds`);
    await runner.query(`alter table workloads drop column spare`);
  }
}

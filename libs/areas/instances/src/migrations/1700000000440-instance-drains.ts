import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long a leaving instance may wait for its requests. Null while a worker of the previous release stops it. */
export class InstanceDrains1700000000440 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table instances add column drain_until timestamptz, add column abandons_silent boolean not null default false`,
    );
    await runner.query(
      `alter table workloads add column abandons_silent boolean not null default false, add column suspended_drain_seconds float8`,
    );
    const comments = {
      'instances.drain_until': 'While it is stopping: when its engine is stopped, whatever requests are in flight',
      'instances.abandons_silent':
        'While it is stopping: it was not healthy, so it does not wait for requests without a byte for 30 s',
      'workloads.abandons_silent': 'The same for all its instances, because the traffic left it for its health',
      'workloads.suspended_drain_seconds': 'How long its instances may drain while it is suspended',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column ${column} is '${text}'`);
    // Answers about deployments read the instances that are draining now.
    await runner.query(`create index instances_draining on instances (revision_id) where state = 'stopping'`);
    await runner.query(`create index workloads_of_deployment on workloads (deployment_id) where is_active`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index workloads_of_deployment`);
    await runner.query(`drop index instances_draining`);
    await runner.query(`alter table workloads drop column suspended_drain_seconds, drop column abandons_silent`);
    await runner.query(`alter table instances drop column abandons_silent, drop column drain_until`);
  }
}

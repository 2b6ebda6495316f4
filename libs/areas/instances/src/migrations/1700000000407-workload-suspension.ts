import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One place of a host changes hands: what is held makes way for as long as an operation lasts, and how long a start takes is known before. */
export class WorkloadSuspension1700000000407 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table workloads add column suspended_by text`);
    await runner.query(
      `comment on column workloads.suspended_by is 'Operation that keeps it from running although it is held; void when that operation is over'`,
    );
    await runner.query(
      `alter table instances add column start_began_at timestamptz, add column start_seconds double precision`,
    );
    await runner.query(
      `comment on column instances.start_began_at is 'When this generation began to start; null for one that was taken back while it was being stopped'`,
    );
    await runner.query(
      `comment on column instances.start_seconds is 'How long its last start took until it was first ready'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table instances drop column start_began_at, drop column start_seconds`);
    await runner.query(`alter table workloads drop column suspended_by`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ReportedFaults1700000000433 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table workloads add column reported_faults jsonb not null default '{}'`);
    await runner.query(
      `comment on column workloads.reported_faults is '{fault of the configuration: when an event last reported it}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table workloads drop column reported_faults`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The values of a window by how loaded the instances were. Gateways of the release before leave it out. */
export class DataplaneLoads1700000000611 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_request_stats add column loads jsonb');
    await runner.query(
      `comment on column dataplane_request_stats.loads is '{instances, alone_ms, joined, histograms: {metric: {bucket of load: histogram}}}; null: unknown'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_request_stats drop column loads');
  }
}

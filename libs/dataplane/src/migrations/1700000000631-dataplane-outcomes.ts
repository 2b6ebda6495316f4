import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Outcomes that are neither a failure nor the client's mistake, and who had them. Gateways of the release before leave
 * them out.
 */
export class DataplaneOutcomes1700000000631 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table dataplane_request_stats
      add column overloaded int not null default 0,
      add column abandoned int not null default 0,
      add column overloaded_retried int not null default 0,
      add column callers jsonb,
      add column waits jsonb,
      add column faults jsonb`);
    await runner.query(
      `comment on column dataplane_request_stats.callers is '{bucket of token and session: [requests, failed, refused, overloaded, abandoned]}; null: unknown'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.waits is '{left, waiting}: histograms of milliseconds without a first byte; null: unknown'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.faults is '{what was wrong with failed answers: attempts}; null: nothing, or unknown'`,
    );
    await runner.query(
      `create index dataplane_request_stats_faults on dataplane_request_stats (window_start) where faults is not null`,
    );
    await runner.query(`alter table dataplane_request_usage
      add column overloaded int not null default 0,
      add column abandoned int not null default 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_request_usage drop column overloaded, drop column abandoned');
    await runner.query(`alter table dataplane_request_stats drop column overloaded, drop column abandoned, drop column overloaded_retried,
      drop column callers, drop column waits, drop column faults`);
  }
}

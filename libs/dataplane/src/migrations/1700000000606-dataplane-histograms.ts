import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = ['ttft_ms', 'itl_ms', 'e2e_latency_ms', 'output_tokens_per_s'];

/** One column for the histograms of all metrics, so that a new metric needs no change of the table. */
export class DataplaneHistograms1700000000606 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table dataplane_request_stats add column histograms jsonb`);
    const pairs = COLUMNS.map((column) => `'${column}', ${column}`).join(', ');
    await runner.query(`update dataplane_request_stats set histograms = jsonb_build_object(${pairs})`);
    await runner.query(`alter table dataplane_request_stats alter column histograms set not null`);
    await runner.query(
      `comment on column dataplane_request_stats.histograms is 'By metric: values of attempts in ok, as {n, sum, sq, b: {bucket: count}}'`,
    );
    for (const column of COLUMNS) await runner.query(`alter table dataplane_request_stats drop column ${column}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of COLUMNS) {
      await runner.query(`alter table dataplane_request_stats add column ${column} jsonb`);
      await runner.query(
        `update dataplane_request_stats set ${column} = coalesce(histograms->'${column}', '{"n": 0, "sum": 0, "sq": 0, "b": {}}')`,
      );
      await runner.query(`alter table dataplane_request_stats alter column ${column} set not null`);
    }
    await runner.query(`alter table dataplane_request_stats drop column histograms`);
  }
}

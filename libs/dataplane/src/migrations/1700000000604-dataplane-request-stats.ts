import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DataplaneRequestStats1700000000604 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_request_stats (
        revision_id text not null,
        window_start timestamptz not null,
        gateway_id text not null,
        tenant_id text not null,
        ok integer not null,
        client_error integer not null,
        server_error integer not null,
        connect_error integer not null,
        cancelled integer not null,
        retried integer not null,
        streamed integer not null,
        tokens_in bigint not null,
        tokens_out bigint not null,
        ttft_ms jsonb not null,
        itl_ms jsonb not null,
        e2e_latency_ms jsonb not null,
        output_tokens_per_s jsonb not null,
        primary key (revision_id, window_start, gateway_id)
      )`);
    await runner.query(`create index dataplane_request_stats_age on dataplane_request_stats (window_start)`);
    await runner.query(
      `comment on table dataplane_request_stats is 'Attempts of requests that ended within one second, per revision and gateway; a row is written once'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.revision_id is 'Revision, or the binding of a published product'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.window_start is 'Start of the second, by the clock of the gateway'`,
    );
    await runner.query(`comment on column dataplane_request_stats.gateway_id is 'Gateway'`);
    await runner.query(`comment on column dataplane_request_stats.tenant_id is 'Tenant of the revision or binding'`);
    await runner.query(`comment on column dataplane_request_stats.ok is 'Attempts answered 2xx or 3xx to their end'`);
    await runner.query(`comment on column dataplane_request_stats.client_error is 'Attempts answered 4xx'`);
    await runner.query(
      `comment on column dataplane_request_stats.server_error is 'Attempts answered 5xx, timed out, or cut after the first byte'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.connect_error is 'Attempts that ended before the first byte of an answer'`,
    );
    await runner.query(`comment on column dataplane_request_stats.cancelled is 'Attempts the client left'`);
    await runner.query(
      `comment on column dataplane_request_stats.retried is 'Failed attempts that a further attempt followed'`,
    );
    await runner.query(`comment on column dataplane_request_stats.streamed is 'Attempts in ok that were streams'`);
    await runner.query(`comment on column dataplane_request_stats.tokens_in is 'Prompt tokens that upstream reported'`);
    await runner.query(
      `comment on column dataplane_request_stats.tokens_out is 'Completion tokens reported; for streams without usage the chunks counted'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.ttft_ms is 'Histogram: time to first token of streams'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.itl_ms is 'Histogram: gaps between the tokens of streams'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.e2e_latency_ms is 'Histogram: whole time of attempts in ok'`,
    );
    await runner.query(
      `comment on column dataplane_request_stats.output_tokens_per_s is 'Histogram: completion tokens per second of each attempt in ok'`,
    );
    await runner.query(`select slipway_tenant_table('dataplane_request_stats')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_request_stats');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS: readonly (readonly [name: string, type: string, comment: string])[] = [
  ['gateway_id', 'text not null', 'Gateway'],
  ['window_start', 'timestamptz not null', 'Start of the ten seconds, by the clock of the gateway'],
  ['row_number', 'integer not null', 'Place among the rows of this gateway and window'],
  ['tenant_id', 'text not null', 'Tenant of the token: who asked, and not who owns what answered'],
  ['token_id', 'text', 'API token; null where one window saw more tokens, instances and slugs than it tells apart'],
  ['owner_type', 'text', 'Whether the token belongs to a person or a service; null without a token'],
  ['owner_id', 'text', 'Whose the token is'],
  [
    'revision_id',
    'text not null',
    'Revision, or the binding of a supplier; nothing for the eyes of the tenant that asked',
  ],
  ['instance_id', 'text', 'Instance that was asked last; null if none was'],
  ['slug', 'text', 'Published product that was asked for; null for a deployment of the tenant'],
  ['ok', 'integer not null', 'Requests whose clients saw 2xx or 3xx to the end'],
  ['client_error', 'integer not null', 'Requests whose clients saw 4xx'],
  [
    'server_error',
    'integer not null',
    'Requests whose clients saw 5xx, a cut answer, or that no instance could be asked',
  ],
  ['cancelled', 'integer not null', 'Requests that their clients left'],
  ['upstream_faults', 'integer not null', 'Attempts that failed upstream, also where a further attempt hid them'],
  ['tokens_in', 'bigint not null', 'Prompt tokens that upstream reported'],
  ['tokens_out', 'bigint not null', 'Completion tokens reported or counted, also of answers that were cut or left'],
  ['duration_ms', 'double precision not null', 'Sum of the times from the draw of a revision to the end'],
  ['attempts', 'integer not null', 'Attempts on instances'],
  ['mean_in_flight', 'double precision not null', 'Requests in flight on the instance, averaged over the attempts'],
];

/** Who used what: the facts that budgets, usage reports and comparisons at equal load are made of. */
export class DataplaneRequestUsage1700000000609 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const columns = COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');
    await runner.query(
      `create table dataplane_request_usage (${columns}, primary key (gateway_id, window_start, row_number))`,
    );
    await runner.query(`create index dataplane_request_usage_age on dataplane_request_usage (window_start)`);
    await runner.query(
      `comment on table dataplane_request_usage is 'Requests that ended within ten seconds, per token, instance and slug; a row is written once'`,
    );
    for (const [name, , comment] of COLUMNS)
      await runner.query(`comment on column dataplane_request_usage.${name} is '${comment}'`);
    await runner.query(`select slipway_tenant_table('dataplane_request_usage')`);
    // Gateways only add.
    await runner.query('grant insert on dataplane_request_usage to slipway_gateway');
    await runner.query(
      `create policy gateway on dataplane_request_usage for insert to slipway_gateway with check (true)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_request_usage');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DataplaneBackends1700000000601 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_backends (
        revision_id text primary key,
        tenant_id text not null,
        deployment_id text not null,
        revision_name text not null,
        model_id text not null,
        instances jsonb not null,
        credential text,
        guard jsonb,
        version bigint not null default 1,
        updated_at timestamptz not null default now()
      )`);
    await runner.query(`create index dataplane_backends_deployment on dataplane_backends (deployment_id)`);
    await runner.query(
      `comment on table dataplane_backends is 'Where the instances of a revision answer, as the gateways see it'`,
    );
    await runner.query(`comment on column dataplane_backends.revision_id is 'Revision'`);
    await runner.query(`comment on column dataplane_backends.tenant_id is 'Owning tenant'`);
    await runner.query(`comment on column dataplane_backends.deployment_id is 'Deployment of the revision'`);
    await runner.query(`comment on column dataplane_backends.revision_name is 'Shown in x-slipway-revision'`);
    await runner.query(`comment on column dataplane_backends.model_id is 'What upstream is told as model'`);
    await runner.query(
      `comment on column dataplane_backends.instances is '[{id, base_url, state}]; only ready ones are sent requests'`,
    );
    await runner.query(
      `comment on column dataplane_backends.credential is 'Bearer credential for upstream, sealed with the key-encryption key'`,
    );
    await runner.query(
      `comment on column dataplane_backends.guard is '{allow: [pattern]} for addresses a tenant named; null for child processes of this host'`,
    );
    await runner.query(`comment on column dataplane_backends.version is 'Grows with each change'`);
    await runner.query(`comment on column dataplane_backends.updated_at is 'Last change'`);
    await runner.query(`select slipway_tenant_table('dataplane_backends')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_backends');
  }
}

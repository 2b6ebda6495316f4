import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DataplaneRoutes1700000000600 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_routes (
        deployment_id text primary key,
        tenant_id text not null,
        deployment_name text not null,
        generation bigint not null,
        slots smallint[] not null check (cardinality(slots) in (0, 100)),
        targets jsonb not null,
        affinity jsonb not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        unique (tenant_id, deployment_name)
      )`);
    await runner.query(
      `comment on table dataplane_routes is 'The route of each deployment as the gateways follow it; written in the transaction of the change'`,
    );
    await runner.query(`comment on column dataplane_routes.deployment_id is 'Deployment'`);
    await runner.query(`comment on column dataplane_routes.tenant_id is 'Owning tenant'`);
    await runner.query(`comment on column dataplane_routes.deployment_name is 'What clients send as model'`);
    await runner.query(
      `comment on column dataplane_routes.generation is 'Grows with each change; an older one is never written over a newer one'`,
    );
    await runner.query(
      `comment on column dataplane_routes.slots is '100 indices into targets, or none for a deployment without a route'`,
    );
    await runner.query(`comment on column dataplane_routes.targets is '[{revision_id, revision_name, weight}]'`);
    await runner.query(`comment on column dataplane_routes.affinity is '{mode, ttl_seconds}'`);
    await runner.query(`comment on column dataplane_routes.created_at is 'First publication'`);
    await runner.query(`comment on column dataplane_routes.updated_at is 'Publication of this generation'`);
    await runner.query(`select slipway_tenant_table('dataplane_routes')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_routes');
  }
}

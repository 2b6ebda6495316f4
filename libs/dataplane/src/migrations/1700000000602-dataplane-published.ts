import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DataplanePublished1700000000602 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_published (
        slug text primary key,
        tenant_id text not null,
        product_id text not null,
        bindings jsonb not null,
        audience jsonb not null,
        version bigint not null default 1,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`);
    await runner.query(
      `comment on table dataplane_published is 'Published model API slugs as the gateways serve them'`,
    );
    await runner.query(`comment on column dataplane_published.slug is 'What clients send as model: vendor/model'`);
    await runner.query(`comment on column dataplane_published.tenant_id is 'Publishing tenant'`);
    await runner.query(`comment on column dataplane_published.product_id is 'Model API product'`);
    await runner.query(
      `comment on column dataplane_published.bindings is '[{binding_id, weight, priority, limits, upstream}]; supplier credentials are sealed'`,
    );
    await runner.query(`comment on column dataplane_published.audience is '{visibility, tenants}'`);
    await runner.query(`comment on column dataplane_published.version is 'Grows with each change'`);
    await runner.query(`comment on column dataplane_published.created_at is 'First publication'`);
    await runner.query(`comment on column dataplane_published.updated_at is 'Last change'`);
    await runner.query(`select slipway_tenant_table('dataplane_published')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_published');
  }
}

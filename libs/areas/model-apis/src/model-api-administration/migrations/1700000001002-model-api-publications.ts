import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ModelApiPublications1700000001002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table model_api_publications (
        id text primary key,
        tenant_id text not null,
        product_id text not null references model_api_products (id),
        version int not null,
        bindings jsonb not null,
        audience jsonb not null,
        notes text,
        state text not null default 'published' check (state in ('published','superseded','withdrawn')),
        created_by jsonb not null,
        created_at timestamptz not null default now(),
        ended_at timestamptz,
        unique (product_id, version)
      )`);
    await runner.query(
      `create unique index model_api_publications_current on model_api_publications (product_id) where state = 'published'`,
    );
    await runner.query(`create index model_api_publications_newest on model_api_publications (tenant_id, id desc)`);
    await runner.query(`select slipway_tenant_table('model_api_publications')`);
    const comments: Record<string, string> = {
      id: 'pub_ and a UUIDv7',
      tenant_id: 'Publishing tenant',
      product_id: 'Product; at most one of its publications is published',
      version: 'Counts the publications of the product',
      bindings: '[{binding_id, weight, priority}]',
      audience: '{visibility, tenants}',
      notes: 'Words of the publisher',
      state: 'published, then superseded by the next version or withdrawn',
      created_by: '{type, id} of the actor',
      created_at: 'Publication',
      ended_at: 'When it was superseded or withdrawn',
    };
    await runner.query(
      `comment on table model_api_publications is 'Which bindings serve a product, for whom; rows are kept'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column model_api_publications.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table model_api_publications');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ModelApiProducts1700000001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table model_api_products (
        id text primary key,
        tenant_id text not null,
        slug text not null,
        display_name text not null,
        description text,
        modalities jsonb not null,
        context_length int,
        max_output_tokens int,
        supported_parameters jsonb not null,
        pricing jsonb,
        state text not null default 'draft' check (state in ('draft','active','deprecated','retired')),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`);
    await runner.query(`create unique index model_api_products_slug on model_api_products (slug)`);
    await runner.query(`create index model_api_products_newest on model_api_products (tenant_id, id desc)`);
    await runner.query(`select slipway_tenant_table('model_api_products')`);
    const comments: Record<string, string> = {
      id: 'prd_ and a UUIDv7',
      tenant_id: 'Publishing tenant',
      slug: 'vendor/model, what clients send as model; one name for the whole installation',
      display_name: 'Name in the catalog',
      description: 'Text in the catalog',
      modalities: 'What it takes and gives, such as text',
      context_length: 'Tokens',
      max_output_tokens: 'Tokens',
      supported_parameters: 'Names of request parameters it honours',
      pricing: '{currency, input_per_mtok, output_per_mtok}',
      state: 'draft until published, active while published',
      created_at: 'Creation',
      updated_at: 'Last change of its state',
    };
    await runner.query(
      `comment on table model_api_products is 'What is sold or offered under one slug, whoever answers behind it'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column model_api_products.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table model_api_products');
  }
}

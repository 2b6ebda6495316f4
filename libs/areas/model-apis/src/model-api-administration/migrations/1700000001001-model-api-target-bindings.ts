import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ModelApiTargetBindings1700000001001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table model_api_target_bindings (
        id text primary key,
        tenant_id text not null,
        product_id text not null references model_api_products (id),
        target jsonb not null,
        revision_id text,
        credential text,
        target_digest text not null,
        limits jsonb not null,
        state text not null default 'unqualified' check (state in ('unqualified','qualified','suspended','retired')),
        checks jsonb not null default '[]',
        checked_at timestamptz,
        operation_id text,
        created_by jsonb not null,
        created_at timestamptz not null default now(),
        unique (product_id, target_digest)
      )`);
    await runner.query(
      `create index model_api_target_bindings_newest on model_api_target_bindings (tenant_id, id desc)`,
    );
    await runner.query(`select slipway_tenant_table('model_api_target_bindings')`);
    // What was qualified must be what is served.
    await runner.query(`create function model_api_target_bindings_are_immutable() returns trigger language plpgsql as $$
      begin raise exception 'the target of a binding never changes; make another binding'; end $$`);
    await runner.query(`create trigger immutable before update of tenant_id, product_id, target, revision_id, credential, target_digest, limits
      on model_api_target_bindings for each row execute function model_api_target_bindings_are_immutable()`);
    const comments: Record<string, string> = {
      id: 'bnd_ and a UUIDv7',
      tenant_id: 'Owning tenant',
      product_id: 'Product it may answer for',
      target: 'As answers show it: {deployment, deployment_id, revision, revision_id} or {supplier, base_url, model}',
      revision_id: 'The pinned revision; null for a supplier',
      credential: 'Sealed bearer credential of a supplier, bound to this id; in no answer',
      target_digest: 'SHA-256 of the target; the credential counts through a keyed hash',
      limits: '{max_rps, max_concurrency}, nulls for none',
      state: 'qualified = the last qualification passed; suspended = it had passed before and failed now',
      checks: 'What the last qualification found, in our own words only',
      checked_at: 'End of the last qualification',
      operation_id: 'The qualification that runs now',
      created_by: '{type, id} of the actor',
      created_at: 'Creation',
    };
    await runner.query(`comment on table model_api_target_bindings is 'Immutable execution targets of products'`);
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column model_api_target_bindings.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table model_api_target_bindings');
    await runner.query('drop function model_api_target_bindings_are_immutable()');
  }
}

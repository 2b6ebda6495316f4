import type { MigrationInterface, QueryRunner } from 'typeorm';

/** No row for a publication of the operator tenant, or one that already keeps to its own tenant. */
const IS_FOREIGN = `
  not exists (select from tenants t where t.id = p.tenant_id and t.is_operator)
  and (p.audience->>'visibility' <> 'tenant' or p.audience->'tenants' <> '[]')`;
const OWN = `'{"visibility": "tenant", "tenants": []}'`;

/**
 * What tenants published to others before only the operator tenant might is from now on theirs alone. A slug that is not theirs stays
 * served to themselves, so that nothing of their own breaks.
 */
export class OwnAudiences1700000001004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const tables = ['tenants', 'model_api_publications', 'dataplane_published'];
    // Forced row-level security would show an owner who is no superuser none of these rows.
    for (const table of tables) await runner.query(`alter table ${table} no force row level security`);
    await runner.query(
      `update model_api_publications p set audience = ${OWN} where p.state = 'published' and ${IS_FOREIGN}`,
    );
    await runner.query(`
      with narrowed as (
        update dataplane_published p set audience = ${OWN}, version = p.version + 1, updated_at = now()
        where ${IS_FOREIGN} returning p.slug)
      select pg_notify('slipway_dataplane', 'slug:' || slug) from narrowed`);
    for (const table of tables) await runner.query(`alter table ${table} force row level security`);
  }

  /** What the audiences were is not kept. */
  async down(): Promise<void> {}
}

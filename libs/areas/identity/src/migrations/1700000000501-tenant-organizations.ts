import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which organizations of the hosted provider a tenant may map. One that exactly one tenant maps when this runs becomes that tenant's.
 * One that several map becomes nobody's, and so the operator tenant's: who has it rightly only the operator can tell.
 */
export class TenantOrganizations1700000000501 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table tenant_organizations (
        provider text not null,
        external_organization_id text not null,
        tenant_id text not null references tenants (id),
        primary key (provider, external_organization_id, tenant_id)
      )`);
    await runner.query(`create index tenant_organizations_by_tenant on tenant_organizations (tenant_id, provider)`);
    const read = ['tenants', 'console_access'];
    // Forced row-level security would show an owner who is no superuser none of these rows.
    for (const table of read) await runner.query(`alter table ${table} no force row level security`);
    await runner.query(`
      insert into tenant_organizations (provider, external_organization_id, tenant_id)
      select a.provider, a.external_organization_id, min(a.tenant_id)
      from console_access a join tenants t on t.id = a.tenant_id where a.status = 'active'
      group by a.provider, a.external_organization_id having count(distinct a.tenant_id) = 1 and not bool_or(t.is_operator)`);
    for (const table of read) await runner.query(`alter table ${table} force row level security`);
    await runner.query(`select slipway_tenant_table('tenant_organizations')`);
    await runner.query(`revoke insert, update, delete on tenant_organizations from slipway_tenant`);
    await runner.query(
      `comment on table tenant_organizations is 'Organizations of the hosted provider that the operator gave to tenants; one without a row is the operator tenant''s'`,
    );
    const columns = {
      provider: 'Name of the hosted identity provider that was configured then',
      external_organization_id: 'org_id in the provider tokens',
      tenant_id: 'Tenant that may map its users; several where the operator says so',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column tenant_organizations.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table tenant_organizations');
  }
}

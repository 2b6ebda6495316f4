import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which hosted identities may use a tenant, and the notification that ends their event streams. */
export class ConsoleAccess1700000000500 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table console_access (
        id text primary key,
        tenant_id text not null references tenants (id),
        provider text not null,
        external_organization_id text not null,
        external_user_id text not null,
        display_name text,
        scopes text[] not null check (scopes <@ array['viewer', 'operator', 'admin']),
        status text not null check (status in ('active', 'revoked')),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        updated_by jsonb not null,
        check (status = 'revoked' or cardinality(scopes) > 0)
      )`);
    await runner.query(
      `create unique index console_access_identity on console_access (provider, external_organization_id, external_user_id, tenant_id)`,
    );
    await runner.query(`create index console_access_by_tenant on console_access (tenant_id, id)`);
    await runner.query(`select slipway_tenant_table('console_access')`);
    await runner.query(`
      create trigger console_access_changed after update on console_access for each row
      when (old.status is distinct from new.status or old.scopes is distinct from new.scopes)
      execute function slipway_notify_token()`);
    await runner.query(
      `comment on table console_access is 'Hosted identities and what they may do in a tenant; a row is never deleted'`,
    );
    const columns = {
      id: 'cac_ and a UUIDv7',
      tenant_id: 'Tenant the identity is let into',
      provider: 'Name of the hosted identity provider that was configured then',
      external_organization_id: 'org_id in the provider tokens',
      external_user_id: 'sub in the provider tokens',
      display_name: 'For people; decides nothing',
      scopes: 'viewer, operator, admin; each includes those before it; empty where revoked',
      status: 'active or revoked',
      created_at: 'When the identity was first mapped',
      updated_at: 'When the mapping last changed',
      updated_by: '{type, id} of who changed it last',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column console_access.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table console_access');
  }
}

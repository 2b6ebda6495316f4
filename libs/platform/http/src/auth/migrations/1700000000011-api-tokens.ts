import type { MigrationInterface, QueryRunner } from 'typeorm';

/** API tokens, and the notification by which gateways forget one the moment it is revoked. */
export class ApiTokens1700000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table api_tokens (
        id text primary key,
        tenant_id text not null references tenants (id),
        name text not null,
        scopes text[] not null check (scopes <@ array['viewer', 'operator', 'admin'] and cardinality(scopes) > 0),
        secret_sha256 bytea not null,
        created_by text not null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        last_used_at timestamptz,
        revoked_at timestamptz,
        revoked_by text
      )`);
    await runner.query(`create index api_tokens_by_tenant on api_tokens (tenant_id, id)`);
    await runner.query(`select slipway_tenant_table('api_tokens')`);
    await runner.query(`
      create function slipway_notify_token() returns trigger language plpgsql as $$
      begin
        perform pg_notify('slipway_tokens', new.id);
        return null;
      end $$`);
    await runner.query(`
      create trigger api_tokens_changed after update on api_tokens for each row
      when (old.revoked_at is distinct from new.revoked_at or old.expires_at is distinct from new.expires_at
        or old.scopes is distinct from new.scopes or old.secret_sha256 is distinct from new.secret_sha256)
      execute function slipway_notify_token()`);
    await runner.query(`comment on function slipway_notify_token() is 'Tells gateways which token to forget'`);
    await runner.query(
      `comment on table api_tokens is 'Bearer tokens slw_<id>_<secret>; the secret is stored as a hash only'`,
    );
    const columns = {
      id: 'tok_ and the id part of the token text',
      tenant_id: 'Owner',
      name: 'Name its maker gave it',
      scopes: 'viewer, operator, admin; each includes those before it',
      secret_sha256: 'SHA-256 of the secret part',
      created_by: 'type:id of the actor that made it',
      created_at: 'When it was made',
      expires_at: 'From when on it is refused',
      last_used_at: 'Last use, at most a minute old while in use',
      revoked_at: 'Since when it is refused; null while it is not',
      revoked_by: 'type:id of the actor that revoked it',
    };
    for (const [column, text] of Object.entries(columns)) {
      await runner.query(`comment on column api_tokens.${column} is '${text}'`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table api_tokens');
    await runner.query('drop function slipway_notify_token()');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SandboxReferences1700000000901 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sandbox_references (
        id text primary key,
        tenant_id text not null,
        sandbox_id text not null,
        provider text not null check (provider in ('e2b','daytona','custom')),
        base_url text not null,
        external_id text not null,
        credential text,
        state text not null default 'active' check (state in ('active','revoked')),
        revoked_at timestamptz,
        revoked_by text,
        created_at timestamptz not null default now(),
        check ((state = 'revoked') = (revoked_at is not null)),
        check (state = 'active' or credential is null)
      )`);
    await runner.query(`create index sandbox_references_newest on sandbox_references (tenant_id, id desc)`);
    await runner.query(`select slipway_tenant_table('sandbox_references')`);
    await runner.query(
      `comment on table sandbox_references is 'Access to sandboxes that others host; revoking one ends the access and changes nothing there'`,
    );
    await runner.query(
      `comment on column sandbox_references.sandbox_id is 'The sandbox that was made with it; others may share the reference'`,
    );
    await runner.query(
      `comment on column sandbox_references.credential is 'Sealed with the key-encryption key for this row; null = none was given, or revoked'`,
    );
    await runner.query(`comment on column sandbox_references.revoked_by is 'type:id of the actor'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sandbox_references');
  }
}

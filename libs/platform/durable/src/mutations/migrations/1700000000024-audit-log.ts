import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AuditLog1700000000024 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_log (
        id text primary key,
        tenant_id text not null,
        at timestamptz not null default clock_timestamp(),
        actor text not null,
        action text not null,
        resource_type text not null,
        resource_name text not null,
        request_id text,
        before_digest text,
        after_digest text,
        sequence bigint,
        previous_hash text,
        hash text,
        unique (tenant_id, sequence)
      )`);
    await runner.query(`create index audit_log_unsealed on audit_log (tenant_id, id) where sequence is null`);
    await runner.query(`select slipway_tenant_table('audit_log')`);
    await runner.query(
      `comment on table audit_log is 'One row a mutation, in its transaction; sealed into a hash chain per tenant right after'`,
    );
    await runner.query(`comment on column audit_log.sequence is 'Position in the chain; null until sealed'`);
    await runner.query(`comment on column audit_log.hash is 'SHA-256 over previous_hash and this row'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_log');
  }
}

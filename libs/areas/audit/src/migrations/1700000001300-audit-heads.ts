import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where each tenant's chain ends: without it, rows cut off at the end would leave a chain that looks whole. */
export class AuditHeads1700000001300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_heads (
        tenant_id text primary key,
        sequence bigint not null default 0,
        hash text not null,
        sealed_at timestamptz not null default now()
      )`);
    await runner.query(`select slipway_tenant_table('audit_heads')`);
    await runner.query(`revoke insert, update, delete on audit_heads from slipway_tenant`);
    await runner.query(`revoke delete on audit_heads from slipway_system`);
    const columns = {
      tenant_id: 'Tenant of the chain',
      sequence: 'Sequence of the last sealed row; 0 before the first',
      hash: 'Hash of that row; 64 zeros before the first',
      sealed_at: 'When it was sealed',
    };
    await runner.query(
      `comment on table audit_heads is 'End of the hash chain of audit_log, one row a tenant; its lock is the right to seal'`,
    );
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column audit_heads.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_heads');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which heads were kept outside the database, so that each is kept once. What proves something is the copy outside, not these rows. */
export class AuditAnchors1700000001304 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_anchors (
        tenant_id text primary key,
        sequence bigint not null default 0,
        hash text,
        due_at timestamptz not null
      )`);
    await runner.query(`select slipway_tenant_table('audit_anchors')`);
    await runner.query(`revoke insert, update, delete on audit_anchors from slipway_tenant`);
    const columns = {
      tenant_id: 'Tenant of the chain',
      sequence: 'Sequence of the head that was last kept; 0 before the first',
      hash: 'Hash of that head; null before the first',
      due_at: 'From when on a newer head may be kept; also the claim of the worker that is at it',
    };
    await runner.query(`comment on table audit_anchors is 'Heads of audit chains that were kept outside the database'`);
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column audit_anchors.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_anchors');
  }
}

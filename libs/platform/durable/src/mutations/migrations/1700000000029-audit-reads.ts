import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reads in the audit, one row an hour for each who, what and which; and the columns by which a key seals a chain. */
export class AuditReads1700000000029 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table audit_log add column reads bigint, add column key_id text, add column seal text`);
    await runner.query(
      `comment on column audit_log.reads is 'Reads that the row tells of: its own and those alike since the row before; null for a mutation'`,
    );
    await runner.query(
      `comment on column audit_log.key_id is 'Key that made the seal; null for rows sealed before there were keys'`,
    );
    await runner.query(`comment on column audit_log.seal is 'HMAC-SHA-256 over hash under that key'`);
    await runner.query(`
      create table audit_reads (
        tenant_id text not null,
        actor text not null,
        action text not null,
        resource_type text not null,
        resource_name text not null,
        unlisted bigint not null,
        listed_at timestamptz not null,
        primary key (tenant_id, actor, action, resource_type, resource_name)
      )`);
    await runner.query(`create index audit_reads_by_listed_at on audit_reads (listed_at)`);
    await runner.query(`select slipway_tenant_table('audit_reads')`);
    await runner.query(`revoke insert, update, delete on audit_reads from slipway_tenant`);
    await runner.query(
      `comment on table audit_reads is 'Who has read what of late: the rule by which many reads become one audit row an hour'`,
    );
    await runner.query(`comment on column audit_reads.unlisted is 'Reads since that row, in none yet'`);
    await runner.query(
      `comment on column audit_reads.listed_at is 'When the last audit row of such reads was written'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_reads');
    await runner.query('alter table audit_log drop column reads, drop column key_id, drop column seal');
  }
}

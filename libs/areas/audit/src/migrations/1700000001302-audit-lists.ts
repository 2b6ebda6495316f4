import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lists go from the newest row backwards, of all resources or of one. */
export class AuditLists1700000001302 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index audit_log_by_tenant on audit_log (tenant_id, id)`);
    await runner.query(`create index audit_log_by_resource on audit_log (tenant_id, resource_name, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_log_by_tenant');
    await runner.query('drop index audit_log_by_resource');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WorkloadsOfTenant1700000000405 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index workloads_of_tenant on workloads (tenant_id) include (replicas, revision_id) where is_active`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index workloads_of_tenant`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WorkloadWaiters1700000000402 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table workload_waiters (
        revision_id text not null references workloads (revision_id) on delete cascade,
        operation_id text not null,
        tenant_id text not null,
        created_at timestamptz not null default clock_timestamp(),
        primary key (revision_id, operation_id)
      )`);
    await runner.query(
      `comment on table workload_waiters is 'Operations to wake once at the next change of a workload'`,
    );
    await runner.query(`comment on column workload_waiters.revision_id is 'Workload that is watched'`);
    await runner.query(`comment on column workload_waiters.operation_id is 'Operation that sleeps'`);
    await runner.query(`comment on column workload_waiters.tenant_id is 'Owning tenant'`);
    await runner.query(`comment on column workload_waiters.created_at is 'A change after this time wakes it'`);
    await runner.query(`select slipway_tenant_table('workload_waiters')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table workload_waiters');
  }
}

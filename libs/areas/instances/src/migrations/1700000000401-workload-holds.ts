import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WorkloadHolds1700000000401 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table workload_holds (
        revision_id text not null references workloads (revision_id) on delete cascade,
        holder text not null,
        tenant_id text not null,
        expires_at timestamptz,
        placed_at timestamptz not null default now(),
        primary key (revision_id, holder)
      )`);
    await runner.query(
      `comment on table workload_holds is 'Why a workload runs. Without an unexpired hold its instances are stopped'`,
    );
    await runner.query(`comment on column workload_holds.revision_id is 'Workload that is held'`);
    await runner.query(`comment on column workload_holds.holder is 'route, warm, operation:<id> or binding:<id>'`);
    await runner.query(`comment on column workload_holds.tenant_id is 'Owning tenant'`);
    await runner.query(
      `comment on column workload_holds.expires_at is 'Ends by itself then; null = when it is released'`,
    );
    await runner.query(
      `comment on column workload_holds.placed_at is 'Last placement; a full target gives up the workload that has been warm for longest'`,
    );
    await runner.query(`select slipway_tenant_table('workload_holds')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table workload_holds');
  }
}

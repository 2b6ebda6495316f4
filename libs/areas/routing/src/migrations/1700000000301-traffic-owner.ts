import type { MigrationInterface, QueryRunner } from 'typeorm';

export class TrafficOwner1700000000301 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table traffic_owner (
        deployment_id text primary key,
        tenant_id text not null,
        operation_id text not null,
        since timestamptz not null default now()
      )`);
    await runner.query(`select slipway_tenant_table('traffic_owner')`);
    await runner.query(
      `comment on table traffic_owner is 'The one live operation that may move a deployment''s traffic; the primary key is the rule'`,
    );
    await runner.query(`comment on column traffic_owner.deployment_id is 'Deployment'`);
    await runner.query(`comment on column traffic_owner.tenant_id is 'Owning tenant'`);
    await runner.query(
      `comment on column traffic_owner.operation_id is 'Rollout, rollback or deletion; removed at its end'`,
    );
    await runner.query(`comment on column traffic_owner.since is 'When it took or was handed the traffic'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table traffic_owner');
  }
}

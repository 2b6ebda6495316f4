import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Outbox1700000000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table outbox (
        id bigint generated always as identity primary key,
        tenant_id text not null,
        operation_id text not null,
        dispatch int not null,
        not_before timestamptz not null default now()
      )`);
    await runner.query(`select slipway_tenant_table('outbox')`);
    await runner.query(
      `comment on table outbox is 'Wake-ups that the relay has not put into the queue yet; written in the transaction they belong to'`,
    );
    await runner.query(`comment on column outbox.not_before is 'The queue delivers the job no earlier'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table outbox');
  }
}

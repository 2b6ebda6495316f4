import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Events1700000000022 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table event_streams (
        stream text primary key,
        tenant_id text not null,
        last_sequence bigint not null
      ) with (fillfactor = 50)`);
    await runner.query(`select slipway_tenant_table('event_streams')`);
    await runner.query(
      `comment on table event_streams is 'Allocates sequences: the row lock makes them gapless and in commit order'`,
    );
    await runner.query(`
      create table events (
        stream text not null,
        sequence bigint not null,
        tenant_id text not null,
        id text not null,
        type text not null,
        subject text not null,
        time timestamptz not null default clock_timestamp(),
        actor text not null,
        operation_id text,
        revision_id text,
        data jsonb not null,
        primary key (stream, sequence)
      )`);
    await runner.query(`create index events_by_type on events (stream, type, sequence)`);
    await runner.query(
      `create index events_by_operation on events (operation_id, sequence) where operation_id is not null`,
    );
    await runner.query(`select slipway_tenant_table('events')`);
    await runner.query(`comment on table events is 'CloudEvents, written in the transaction of the change they tell'`);
    await runner.query(`comment on column events.sequence is 'Position in its stream, from 1, without gaps'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table events');
    await runner.query('drop table event_streams');
  }
}

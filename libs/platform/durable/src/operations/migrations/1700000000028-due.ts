import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When an operation may next be taken, for workers that ask Postgres what to run. Generated, so that no writer can forget it; null
 * while a worker holds the lease, so that renewing that lease changes no index.
 */
export class Due1700000000028 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table operations
        add column is_held boolean not null generated always as (lease_expires_at is not null) stored,
        add column due_at timestamptz generated always as (
          case
            when lease_expires_at is not null or status not in ('pending','running','waiting','cancelling') then null
            when cancel_requested or is_resumed then created_at
            when awaiting is not null then null
            else coalesce(wake_at, created_at)
          end) stored`);
    await runner.query(`create index operations_due on operations (due_at) where due_at is not null`);
    await runner.query(`create index operations_held on operations (id) where is_held`);
    await runner.query(`drop index operations_live`);
    await runner.query(
      `comment on column operations.due_at is 'From when a worker may take it; null while one holds it, a person is waited for, or it has ended'`,
    );
    await runner.query(
      `comment on column operations.dispatched_at is 'When that job was put into the outbox, or is to be delivered'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create index operations_live on operations (dispatched_at) where status in ('pending','running','waiting','cancelling')`,
    );
    await runner.query(`alter table operations drop column due_at, drop column is_held`);
  }
}

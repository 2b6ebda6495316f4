import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Subscriptions stand in a table and not in the code of a process: an event is kept for a subscriber of the next version also
 * where a process of this version appends it. An area subscribes in a migration of its own.
 */
export class EventInbox1700000000026 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table event_subscriptions (
        type text not null,
        subscription text not null,
        primary key (type, subscription)
      )`);
    await runner.query(`alter table event_subscriptions enable row level security`);
    await runner.query(`alter table event_subscriptions force row level security`);
    // Grants decide who may: everybody reads, the owner and the system write.
    await runner.query(`create policy system on event_subscriptions to slipway_system using (true) with check (true)`);
    await runner.query(`create policy readers on event_subscriptions for select using (true)`);
    await runner.query(`create policy subscribers on event_subscriptions for insert with check (true)`);
    await runner.query(`grant select on event_subscriptions to slipway_tenant, slipway_system`);
    await runner.query(
      `comment on table event_subscriptions is 'Which part of the product is to receive events of which type'`,
    );
    await runner.query(`
      create function slipway_subscribe(name text, event_types text[]) returns void language sql as $$
        insert into event_subscriptions (type, subscription) select unnest(event_types), name on conflict do nothing
      $$`);
    await runner.query(
      `comment on function slipway_subscribe(text, text[]) is 'Puts events of these types into the inbox of a subscription from now on'`,
    );
    await runner.query(`
      create table event_inbox (
        id bigint generated always as identity primary key,
        subscription text not null,
        tenant_id text not null,
        stream text not null,
        sequence bigint not null,
        attempts int not null default 0,
        due_at timestamptz not null default now(),
        trouble text
      )`);
    await runner.query(`create index event_inbox_due on event_inbox (subscription, due_at)`);
    await runner.query(`select slipway_tenant_table('event_inbox')`);
    await runner.query(
      `comment on table event_inbox is 'Events that a subscription has not received yet; a row goes in the transaction that receives it'`,
    );
    await runner.query(`comment on column event_inbox.trouble is 'Why the last attempt failed'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table event_inbox');
    await runner.query('drop function slipway_subscribe(text, text[])');
    await runner.query('drop table event_subscriptions');
  }
}

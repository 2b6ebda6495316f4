import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookDeliveries1700000001402 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhook_deliveries (
        webhook_id text not null references webhooks (id) on delete cascade,
        event_id text not null,
        tenant_id text not null,
        stream text not null,
        sequence bigint not null,
        event_type text not null,
        status text not null default 'pending' check (status in ('pending','succeeded','failed','cancelled')),
        attempts int not null default 0,
        next_attempt_at timestamptz default now(),
        response_status int,
        error text,
        created_at timestamptz not null default now(),
        last_attempt_at timestamptz,
        completed_at timestamptz,
        primary key (webhook_id, event_id)
      ) with (fillfactor = 70)`);
    await runner.query(
      `create index webhook_deliveries_pending on webhook_deliveries (webhook_id, stream, sequence) where status = 'pending'`,
    );
    await runner.query(
      `create index webhook_deliveries_completed on webhook_deliveries (completed_at) where completed_at is not null`,
    );
    await runner.query(`select slipway_tenant_table('webhook_deliveries')`);
    const comments: Record<string, string> = {
      webhook_id: 'The receiver',
      event_id: 'The event, and the webhook-id header of each attempt',
      tenant_id: 'Owning tenant',
      stream: 'The stream of the event',
      sequence: 'Its position there: the order of sending',
      event_type: 'Its type',
      status: 'pending until a 2xx answer, the last attempt or the end of the webhook',
      attempts: 'Requests whose end is known',
      next_attempt_at: 'Not sent before; null when it has ended',
      response_status: 'HTTP status of the last attempt; null when no answer came',
      error: 'Why the last attempt failed, as a stable code',
      created_at: 'When the event was turned into this delivery',
      last_attempt_at: 'When the last attempt ended',
      completed_at: 'When it ended; rows are kept 30 days from then',
    };
    await runner.query(
      `comment on table webhook_deliveries is 'One event for one webhook: what is still to be sent, and the log of what was'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column webhook_deliveries.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhook_deliveries');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One event stream towards one webhook. Its row is what makes deliveries complete (cursor), in order and single (lease). */
export class WebhookLanes1700000001401 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhook_lanes (
        webhook_id text not null references webhooks (id) on delete cascade,
        stream text not null,
        tenant_id text not null,
        sequence bigint not null,
        due_at timestamptz,
        lease_version bigint not null default 0,
        primary key (webhook_id, stream)
      ) with (fillfactor = 70)`);
    await runner.query(`create index webhook_lanes_of_stream on webhook_lanes (stream)`);
    await runner.query(`create index webhook_lanes_due on webhook_lanes (due_at) where due_at is not null`);
    await runner.query(`select slipway_tenant_table('webhook_lanes')`);
    const comments: Record<string, string> = {
      webhook_id: 'The receiver',
      stream: 'The event stream',
      tenant_id: 'Owning tenant',
      sequence: 'Events up to this one have been turned into deliveries, or were there before the webhook',
      due_at:
        'When the oldest pending delivery may be sent; while a worker sends, the end of its lease; null = nothing pending',
      lease_version: 'Fencing token: every write of a sender names the version it took',
    };
    await runner.query(
      `comment on table webhook_lanes is 'How far each event stream is turned into deliveries of a webhook, and who sends them now'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column webhook_lanes.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhook_lanes');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const ADDED: Record<string, Record<string, [type: string, comment: string]>> = {
  webhooks: {
    sealed_previous_secret: ['text', 'The secret before the last rotation, sealed like the current one'],
    previous_secret_until: ['timestamptz', 'Until then requests carry the signatures of both secrets'],
    paused_until: ['timestamptz', 'The receiver requested with Retry-After that nothing is sent before'],
    version: ['bigint not null default 0', 'Rises with each change of what a sender uses: URL, secrets, state'],
  },
  webhook_lanes: {
    changes: ['bigint not null default 0', 'Rises when a pending delivery is skipped that a sender may have read'],
  },
  webhook_deliveries: {
    duration_ms: ['int', 'How long the last attempt took; null if none has ended'],
    body: ['text', 'The CloudEvent, if it is in no event stream: a test. Others are read from their stream'],
  },
};

/** Changes of webhooks, rotation of their secrets, tests, and deliveries that are skipped or sent again. */
export class WebhookVerbs1700000001405 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [table, columns] of Object.entries(ADDED)) {
      const added = Object.entries(columns).map(([name, [type]]) => `add column ${name} ${type}`);
      await runner.query(`alter table ${table} ${added.join(', ')}`);
      for (const [name, [, text]] of Object.entries(columns))
        await runner.query(`comment on column ${table}.${name} is '${text}'`);
    }
    await runner.query(`comment on column webhooks.disabled_reason is 'gone = the receiver answered 410; requested'`);
    // Not valid: the rows that exist have one of the earlier values, so they need no check.
    await runner.query(`
      alter table webhook_deliveries drop constraint webhook_deliveries_status_check,
        add constraint webhook_deliveries_status_check
          check (status in ('pending','succeeded','failed','cancelled','skipped')) not valid`);
    await runner.query(
      `create index webhook_deliveries_not_received on webhook_deliveries (webhook_id, event_id) where status in ('failed','cancelled','skipped')`,
    );
    await runner.query(
      `create index webhook_deliveries_tests on webhook_deliveries (webhook_id, sequence) where body is not null`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index webhook_deliveries_tests');
    await runner.query('drop index webhook_deliveries_not_received');
    await runner.query(`update webhook_deliveries set status = 'cancelled' where status = 'skipped'`);
    await runner.query(`
      alter table webhook_deliveries drop constraint webhook_deliveries_status_check,
        add constraint webhook_deliveries_status_check check (status in ('pending','succeeded','failed','cancelled'))`);
    for (const [table, columns] of Object.entries(ADDED)) {
      const dropped = Object.keys(columns).map((name) => `drop column ${name}`);
      await runner.query(`alter table ${table} ${dropped.join(', ')}`);
    }
  }
}

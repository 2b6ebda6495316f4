import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Webhooks1700000001400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhooks (
        id text primary key,
        tenant_id text not null,
        url text not null,
        description text,
        event_types text[] not null,
        deployments text[] not null,
        streams text[] not null,
        sealed_secret text not null,
        state text not null default 'active' check (state in ('active','disabled')),
        disabled_reason text,
        created_by text not null,
        created_at timestamptz not null default now(),
        disabled_at timestamptz
      )`);
    await runner.query(`create index webhooks_of_tenant on webhooks (tenant_id, id desc)`);
    await runner.query(`select slipway_tenant_table('webhooks')`);
    const comments: Record<string, string> = {
      id: 'whk_ and a UUIDv7',
      tenant_id: 'Owning tenant',
      url: 'Where events are posted to',
      description: 'For people',
      event_types: 'Which events it gets: exact types or rollout.*; empty = all',
      deployments:
        'Names of the deployments whose events it gets, as they were given; empty = all events of the tenant',
      streams: 'The event streams of these deployments',
      sealed_secret: 'The signing secret, sealed with the key-encryption key for webhook/<id>',
      state: 'disabled = nothing is sent any more',
      disabled_reason: 'gone = the receiver answered 410',
      created_by: 'Type and id of the actor that made it',
      created_at: 'Creation; events committed after it are delivered',
      disabled_at: 'When it was disabled',
    };
    await runner.query(`comment on table webhooks is 'Receivers of a tenant''s events'`);
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column webhooks.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhooks');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Sandboxes1700000000900 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sandboxes (
        id text primary key,
        tenant_id text not null,
        provider text not null check (provider in ('local','e2b','daytona','custom')),
        reference_id text,
        state text not null check (state in ('running','paused','stopped','archived','error','unknown')),
        state_observed_at timestamptz,
        bytes_used bigint not null default 0 check (bytes_used >= 0),
        bytes_limit bigint not null,
        file_count int not null default 0 check (file_count >= 0),
        labels jsonb not null default '{}',
        created_at timestamptz not null default now(),
        expires_at timestamptz,
        check ((provider = 'local') = (reference_id is null)),
        check (bytes_used <= bytes_limit)
      )`);
    await runner.query(`create index sandboxes_newest on sandboxes (tenant_id, id desc)`);
    await runner.query(
      `create index sandboxes_by_reference on sandboxes (reference_id) where reference_id is not null`,
    );
    await runner.query(`create index sandboxes_expiring on sandboxes (expires_at) where expires_at is not null`);
    await runner.query(`select slipway_tenant_table('sandboxes')`);
    await runner.query(
      `comment on table sandboxes is 'Sandboxes of tenants, each with a durable workspace that this service keeps'`,
    );
    const comments: Record<string, string> = {
      provider: 'local = the workspace is all there is; otherwise who hosts the sandbox',
      reference_id: 'The external sandbox that files are passed on to',
      state: 'As last seen; an external sandbox is seen only when a file is passed on to it',
      state_observed_at: 'When that was; null = never',
      bytes_used:
        'Sum of the sizes in sandbox_files, kept in their transactions; its row lock orders the uploads of a sandbox',
      bytes_limit: 'More than this is refused',
      labels: 'Text by text, for the client',
      expires_at: 'From then on it does not exist; the sweep removes it with its files',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column sandboxes.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sandboxes');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SandboxFiles1700000000902 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sandbox_files (
        sandbox_id text not null,
        path text collate "C" not null,
        tenant_id text not null,
        blob text not null unique,
        size_bytes bigint not null check (size_bytes >= 0),
        sha256 text not null,
        mode text not null,
        modified_at timestamptz not null default now(),
        sync text not null default 'none' check (sync in ('none','pending','synced','failed')),
        sync_error text,
        sync_operation_id text,
        primary key (sandbox_id, path)
      )`);
    await runner.query(`select slipway_tenant_table('sandbox_files')`);
    await runner.query(
      `comment on table sandbox_files is 'The files of workspaces; committing a row is the moment at which a file is new or replaced'`,
    );
    const comments: Record<string, string> = {
      path: 'Relative, without . and ..; a name only, it never reaches a file system of ours',
      blob: 'Where the content is in the workspace store; a blob is written once and never changed',
      sha256: 'Of the content, hex',
      mode: 'Permission bits as four octal digits',
      sync: 'Whether the external sandbox has it: none = there is none',
      sync_operation_id: 'The durable operation that passes it on',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column sandbox_files.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sandbox_files');
  }
}

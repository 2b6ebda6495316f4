import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SandboxStrayBlobs1700000000903 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sandbox_stray_blobs (
        blob text primary key,
        tenant_id text not null,
        sandbox_id text not null,
        delete_after timestamptz not null,
        is_doomed boolean not null default false
      )`);
    await runner.query(`create index sandbox_stray_blobs_due on sandbox_stray_blobs (delete_after)`);
    await runner.query(`select slipway_tenant_table('sandbox_stray_blobs')`);
    await runner.query(
      `comment on table sandbox_stray_blobs is 'Blobs that no file names: being written, or replaced. The row comes before the first byte, so that no crash leaves a blob nobody knows'`,
    );
    await runner.query(
      `comment on column sandbox_stray_blobs.delete_after is 'A living upload moves it ahead; once it is past, the sweep removes the blob'`,
    );
    await runner.query(
      `comment on column sandbox_stray_blobs.is_doomed is 'A sweep has begun to remove it: no file may take it any more'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sandbox_stray_blobs');
  }
}

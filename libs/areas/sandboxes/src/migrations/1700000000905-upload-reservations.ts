import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Processes of the previous release add rows without these columns: their uploads are counted when they end. */
export class UploadReservations1700000000905 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table sandbox_stray_blobs
        add column is_upload boolean not null default false,
        add column reserved_bytes bigint not null default 0`);
    await runner.query(
      `create index sandbox_stray_blobs_uploads on sandbox_stray_blobs (tenant_id) include (reserved_bytes, is_doomed) where is_upload`,
    );
    await runner.query(
      `comment on column sandbox_stray_blobs.is_upload is 'An upload writes it: it counts in the quota sandbox_uploads until it is doomed'`,
    );
    await runner.query(
      `comment on column sandbox_stray_blobs.reserved_bytes is 'What the upload may have written so far: it counts in the quota sandbox_bytes until the blob is removed'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table sandbox_stray_blobs drop column is_upload, drop column reserved_bytes');
  }
}

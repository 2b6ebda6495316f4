import type { MigrationInterface, QueryRunner } from 'typeorm';

/** May be null: processes of the previous release publish while this one is being rolled out. */
export class PublicationMediaUrls1700000001007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table model_api_publications add column media_urls jsonb');
    await runner.query(
      `comment on column model_api_publications.media_urls is '{allow, hosts}: which URLs of media requests may name; null = data: only'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table model_api_publications drop column media_urls');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** May be null: processes of the previous release publish while this one is being rolled out. Their gateways ignore it. */
export class DataplaneMediaUrls1700000000652 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_routes add column media_urls jsonb');
    await runner.query('alter table dataplane_published add column media_urls jsonb');
    await runner.query(
      `comment on column dataplane_routes.media_urls is '{allow, hosts}: which URLs of media requests may name; null = any'`,
    );
    await runner.query(
      `comment on column dataplane_published.media_urls is '{allow, hosts}: which URLs of media requests may name; null = data: only'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_published drop column media_urls');
    await runner.query('alter table dataplane_routes drop column media_urls');
  }
}

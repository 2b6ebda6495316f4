import type { MigrationInterface, QueryRunner } from 'typeorm';

/** May be null: processes of the previous release publish while this one is being rolled out. */
export class PublicationPrefixCaches1700000001005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table model_api_publications add column shares_prefix_cache boolean');
    await runner.query(
      `comment on column model_api_publications.shares_prefix_cache is 'Whether its tenants share a prefix cache that cache_salt does not divide; null = unknown, which counts as true if it has several tenants'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table model_api_publications drop column shares_prefix_cache');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** With a default, because processes of the previous release create deployments without it. */
export class DeploymentMediaUrls1700000000111 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table deployments add column media_urls jsonb not null default '{"allow": "any", "hosts": []}'`,
    );
    await runner.query(
      `comment on column deployments.media_urls is '{allow, hosts}: which URLs of media its inference requests may name'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments drop column media_urls');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rotation: a token and its replacement have one name, and both are usable for a while. */
export class TokenRotation1700000000017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_tokens add column replaced_by text');
    await runner.query(
      `comment on column api_tokens.replaced_by is 'Id of the token that a rotation put in its place; null if there was none'`,
    );
    await runner.query('create index api_tokens_by_name on api_tokens (tenant_id, name) where revoked_at is null');
    await runner.query('create index api_tokens_ended on api_tokens (least(expires_at, revoked_at))');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index api_tokens_ended');
    await runner.query('drop index api_tokens_by_name');
    await runner.query('alter table api_tokens drop column replaced_by');
  }
}

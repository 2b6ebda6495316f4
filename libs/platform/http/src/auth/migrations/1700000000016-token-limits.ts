import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A person must not get more of a gateway by signing in again: all tokens that the console makes for them count together. */
export class TokenLimits1700000000016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_tokens add column counts_for_owner boolean not null default false');
    await runner.query(
      `comment on column api_tokens.counts_for_owner is 'Whether gateways limit it together with the other tokens of its owner, and not by itself'`,
    );
    await runner.query('grant select (counts_for_owner) on api_tokens to slipway_gateway');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_tokens drop column counts_for_owner');
  }
}

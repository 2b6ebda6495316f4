import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A new token is told of as a changed one is: whoever remembers that it did not exist forgets that. */
export class TokenMade1700000000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create trigger api_tokens_made after insert on api_tokens for each row execute function slipway_notify_token()`);
    await runner.query(`comment on function slipway_notify_token() is 'Tells which token to read again'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger api_tokens_made on api_tokens');
    await runner.query(`comment on function slipway_notify_token() is 'Tells gateways which token to forget'`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A condition of a transaction that is checked in the same message as its commit: the statement fails, and so the
 * commit rolls back. Without it, a client would have to wait for the row before it may commit.
 */
export class Refuse1700000000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create function slipway_refuse(reason text) returns boolean language plpgsql volatile as $$
      begin
        raise exception using errcode = 'SW401', message = reason;
      end $$`);
    await runner.query(
      `comment on function slipway_refuse(text) is 'Fails the transaction with SQLSTATE SW401 and this code of an error'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function slipway_refuse(text)');
  }
}

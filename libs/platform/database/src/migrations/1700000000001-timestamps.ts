import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Answers are made as JSON in SQL on hot paths, so the wire format of a time must exist there too. */
export class Timestamps1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create function slipway_rfc3339(at timestamptz) returns text language sql immutable parallel safe return
        to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
    await runner.query(
      `comment on function slipway_rfc3339(timestamptz) is 'RFC 3339 in UTC with milliseconds, as every answer shows times'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function slipway_rfc3339(timestamptz)');
  }
}

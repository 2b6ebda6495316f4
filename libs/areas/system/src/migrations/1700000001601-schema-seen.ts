import type { MigrationInterface, QueryRunner } from 'typeorm';

/** So that a process can say which schema it works with. */
export class SchemaSeen1700000001601 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('grant select on schema_migrations to slipway_system');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('revoke select on schema_migrations from slipway_system');
  }
}

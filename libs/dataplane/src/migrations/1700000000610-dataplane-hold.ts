import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Requests wait while the one place of a host changes hands. Gateways of the release before ignore the column. */
export class DataplaneHold1700000000610 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_routes add column hold jsonb');
    await runner.query(
      `comment on column dataplane_routes.hold is '{max_seconds, estimated_seconds, since} while gateways keep new requests waiting'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_routes drop column hold');
  }
}

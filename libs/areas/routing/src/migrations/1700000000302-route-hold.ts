import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Requests wait while a revision makes room for another. The repair of forgotten holds looks often, and mostly finds none. */
export class RouteHold1700000000302 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table routes add column hold jsonb');
    await runner.query(
      `comment on column routes.hold is '{max_seconds, estimated_seconds, since} while gateways keep new requests waiting'`,
    );
    await runner.query('create index routes_held on routes (deployment_id) where hold is not null');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table routes drop column hold');
  }
}

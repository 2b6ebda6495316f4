import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who of a revision's instances has the requests. Gateways of the release before leave it out. */
export class DataplaneInstancesInFlight1700000000630 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_inflight add column instances jsonb');
    await runner.query(`comment on column dataplane_inflight.revision_id is 'Revision, or binding of a supplier'`);
    await runner.query(
      `comment on column dataplane_inflight.instances is '{instance: requests sent to it and not ended}, those that take no new ones included, without those that have none; null: unknown'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_inflight drop column instances');
  }
}

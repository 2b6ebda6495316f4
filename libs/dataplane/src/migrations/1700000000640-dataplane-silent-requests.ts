import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which requests of leaving instances get no byte. Gateways of the previous release do not report it. */
export class DataplaneSilentRequests1700000000640 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_inflight add column silent jsonb');
    await runner.query(
      `comment on column dataplane_inflight.silent is '{instance: those of its requests that got no byte of an answer for 30 s}, only of instances that take no new requests; null: none, or unknown'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_inflight drop column silent');
  }
}

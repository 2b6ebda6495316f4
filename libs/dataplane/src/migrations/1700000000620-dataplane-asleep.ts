import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Revisions that sleep, who waits for them, and when one was last asked. Gateways of the release before ignore the columns. */
export class DataplaneAsleep1700000000620 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_backends add column asleep jsonb');
    await runner.query(
      `comment on column dataplane_backends.asleep is '{max_seconds, estimated_seconds, since, failures, failure} while the revision sleeps and gateways keep requests for it waiting'`,
    );
    await runner.query(
      'alter table dataplane_inflight add column held integer not null default 0, add column used_at timestamptz',
    );
    await runner.query(
      `comment on column dataplane_inflight.revision_id is 'Revision, binding of a supplier, or instance that takes no new requests'`,
    );
    await runner.query(`comment on column dataplane_inflight.held is 'Requests that wait because the revision sleeps'`);
    await runner.query(
      `comment on column dataplane_inflight.used_at is 'When the gateway last said that it had had a request for it'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table dataplane_inflight drop column held, drop column used_at');
    await runner.query('alter table dataplane_backends drop column asleep');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where each stream begins, for the deletion of old events. Nothing here rewrites or reads `events`, which may be large: the columns are of the
 * streams, with constants for what is there already, and the settings are for the next vacuum.
 */
export class EventRetention1700000000035 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Streams that exist are older than any cut and are looked at once; those to come begin with an event of now.
    await runner.query(`
      alter table event_streams
        add column first_sequence bigint not null default 1,
        add column oldest_at timestamptz not null default 'epoch'`);
    await runner.query(`alter table event_streams alter column oldest_at set default now()`);
    await runner.query(`create index event_streams_oldest on event_streams (oldest_at)`);
    await runner.query(`comment on column event_streams.first_sequence is 'No event before it is kept'`);
    await runner.query(
      `comment on column event_streams.oldest_at is 'Time of its first event, or later where that one is still needed: deletion looks at the stream once this is too old'`,
    );
    // A fifth of a large table, which is the default, would be days of deletions.
    await runner.query(`alter table events set (autovacuum_vacuum_scale_factor = 0.05)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table events reset (autovacuum_vacuum_scale_factor)`);
    await runner.query(`alter table event_streams drop column first_sequence, drop column oldest_at`);
  }
}

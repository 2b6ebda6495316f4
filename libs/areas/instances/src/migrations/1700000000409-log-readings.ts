import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'table log_readings':
    'Wishes to read the output of an instance: from an api process to the worker that leads the target. Unlogged: whoever asks is gone after a crash',
  'column log_readings.id': 'Chosen by the api process that asks',
  'column log_readings.tenant_id': 'Owning tenant',
  'column log_readings.target': 'Execution target of the instance',
  'column log_readings.instance_id': 'Instance whose output is read',
  'column log_readings.options': '{tail, since, stream, previous, follow}',
  'column log_readings.asked_at': 'When it was asked for',
  'column log_readings.reader_seen_at':
    'Last sign of life of who asks; without one for a while the worker stops, and the row is deleted',
  'column log_readings.served_at': 'Last sign of life of the worker that reads; null while none does',
  'table log_chunks':
    'Output on its way to who asks, who deletes what it takes; a worker waits while there are many. Unlogged',
  'column log_chunks.reading_id': 'Reading',
  'column log_chunks.sequence': 'Order of the chunks of a reading, from 0',
  'column log_chunks.tenant_id': 'Owning tenant',
  'column log_chunks.lines': '[{stream, at, text}], redacted',
  'column log_chunks.is_last': 'Whether there is no more',
  'column log_chunks.problem': 'What kept the worker from reading on; null where nothing did',
};

export class LogReadings1700000000409 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create unlogged table log_readings (
        id text primary key,
        tenant_id text not null,
        target text not null,
        instance_id text not null,
        options jsonb not null,
        asked_at timestamptz not null default clock_timestamp(),
        reader_seen_at timestamptz not null default clock_timestamp(),
        served_at timestamptz
      )`);
    await runner.query(`
      create unlogged table log_chunks (
        reading_id text not null references log_readings (id) on delete cascade,
        sequence int not null,
        tenant_id text not null,
        lines jsonb not null,
        is_last boolean not null default false,
        problem text,
        primary key (reading_id, sequence)
      )`);
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_tenant_table('log_readings')`);
    await runner.query(`select slipway_tenant_table('log_chunks')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table log_chunks');
    await runner.query('drop table log_readings');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS: Record<string, string> = {
  started_at: 'When its server was last started',
  key_id: 'Key of the ring that the key of this generation is derived from; null where its engine asks for none',
  failure:
    'Why the last start came to nothing, until one is ready: {cause, remediation, exit_code, signal, message, log_tail}',
  failed_starts: 'Starts in a row that came to nothing for the cause that failure names',
  progress: '{phase, bytes, total_bytes} of a start, as far as the target can tell',
};

/** Why a start fails and how far one is; which key of the ring an engine was given. */
export class InstanceStarts1700000000406 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table instances add column started_at timestamptz, add column key_id text, add column failure jsonb,
         add column failed_starts int not null default 0, add column progress jsonb`,
    );
    for (const [column, text] of Object.entries(COLUMNS))
      await runner.query(`comment on column instances.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table instances drop column started_at, drop column key_id, drop column failure, drop column failed_starts,
         drop column progress`,
    );
  }
}

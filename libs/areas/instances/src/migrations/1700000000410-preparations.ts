import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'table preparations':
    'What an operation wants its host to have before it stops anything: the worker that leads the target looks for the program and the model and fetches what a hub has. Void when the operation is over',
  'column preparations.operation_id': 'Operation that waits for it',
  'column preparations.revision_id': 'Revision that is to be started',
  'column preparations.tenant_id': 'Owning tenant',
  'column preparations.target': 'Execution target of the revision',
  'column preparations.spec': 'Spec of the revision',
  'column preparations.state': 'asked, running, ready or failed',
  'column preparations.attempt': 'Rises with each wish of the operation',
  'column preparations.progress': '{phase, bytes, total_bytes} while it is running',
  'column preparations.failure': 'Why it could not be started, where it is known before a start',
  'column preparations.asked_at': 'When it was last asked for',
};

export class Preparations1700000000410 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table preparations (
        operation_id text not null,
        revision_id text not null,
        tenant_id text not null,
        target text not null,
        spec jsonb not null,
        state text not null default 'asked' check (state in ('asked', 'running', 'ready', 'failed')),
        attempt int not null default 1,
        progress jsonb,
        failure jsonb,
        asked_at timestamptz not null default clock_timestamp(),
        primary key (operation_id, revision_id)
      )`);
    await runner.query(`create index preparations_open on preparations (target) where state in ('asked', 'running')`);
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_tenant_table('preparations')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table preparations');
  }
}

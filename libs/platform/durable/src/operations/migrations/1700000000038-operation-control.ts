import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people tell a running operation, and what a waiting one waits for. */
export class OperationControl1700000000038 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table operations
        add column waiting_for text check (waiting_for in ('soak','approval','decision','resume','capacity','traffic')),
        add column pause jsonb,
        add column promotion jsonb,
        add column control_version int not null default 0`);
    await runner.query('alter table operation_steps add column paused_ms float8 not null default 0');
    const comments = {
      'operations.waiting_for': 'What it waits for while its status is waiting; null in rows of previous releases',
      'operations.pause': '{at, by, reason} of the person who paused it; null unless it is paused',
      'operations.promotion': '{to, step, at, by, reason} of the last step that a person passed',
      'operations.control_version':
        'Rises with each pause, resume and promotion, so that no worker commits a step without having seen it',
      'operation_steps.paused_ms':
        'Milliseconds for which the operation was paused while the step ran, without a pause that lasts',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column ${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table operation_steps drop column paused_ms');
    await runner.query(
      'alter table operations drop column waiting_for, drop column pause, drop column promotion, drop column control_version',
    );
  }
}

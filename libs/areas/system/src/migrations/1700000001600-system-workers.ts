import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SystemWorkers1700000001600 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table system_workers (
        worker_id text primary key,
        version text not null,
        started_at timestamptz not null default now(),
        seen_at timestamptz not null default now()
      )`);
    await runner.query(`comment on table system_workers is 'Heartbeats of the worker processes'`);
    await runner.query(`comment on column system_workers.worker_id is 'One run of a worker process'`);
    await runner.query(`comment on column system_workers.version is 'Of the product that it runs'`);
    await runner.query(`comment on column system_workers.started_at is 'First heartbeat'`);
    await runner.query(`comment on column system_workers.seen_at is 'Last heartbeat, by the clock of Postgres'`);
    await runner.query(`select slipway_system_table('system_workers')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table system_workers');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Instances1700000000403 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table instances (
        id text primary key,
        revision_id text not null references workloads (revision_id) on delete cascade,
        tenant_id text not null,
        target text not null,
        ordinal int not null,
        generation int not null default 1,
        state text not null default 'pending'
          check (state in ('pending', 'starting', 'ready', 'unhealthy', 'backing_off', 'stopping', 'stopped')),
        state_since timestamptz not null default now(),
        base_url text,
        restarts int not null default 0,
        crash_streak int not null default 0,
        next_start_at timestamptz,
        ready_since timestamptz,
        message text,
        observed_at timestamptz not null default now(),
        version bigint not null default 1,
        unique (revision_id, ordinal)
      ) with (fillfactor = 70)`);
    await runner.query(
      `comment on table instances is 'Observed state of each instance of a workload; written by the reconciler of its target only'`,
    );
    const columns: Record<string, string> = {
      id: 'Stable over restarts; the driver knows the instance by it',
      revision_id: 'Workload it belongs to',
      tenant_id: 'Owning tenant',
      target: 'Execution target',
      ordinal: 'Number within the workload, from 0',
      generation: 'Number of the start it is at; the driver starts each at most once',
      state:
        'pending → starting → ready ⇄ unhealthy; a crash leads to backing_off and the next generation; no longer wanted: stopping → stopped',
      state_since: 'When it entered this state',
      base_url: 'Where it answers, while it runs',
      restarts: 'Crashes since the workload was last activated',
      crash_streak: 'Crashes without a minute of being ready in between; sets the back-off',
      next_start_at: 'End of the back-off',
      ready_since: 'First readiness of this generation',
      message: 'What is wrong, in words; null when nothing is',
      observed_at: 'Last change of this row',
      version: 'Guards every write: who read an older one changes nothing',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column instances.${column} is '${text}'`);
    await runner.query(`select slipway_tenant_table('instances')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table instances');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'table engine_loads': 'What engines told last of the work that waits in them; rows older than 20 s count for nothing',
  'column engine_loads.instance_id': 'Instance',
  'column engine_loads.revision_id': 'Revision',
  'column engine_loads.tenant_id': 'Owning tenant',
  'column engine_loads.waiting': 'Requests that the engine has taken and not begun; null where it does not tell',
  'column engine_loads.kv_usage': 'Of its memory for keys and values, 0..1; null where it does not tell',
  'column engine_loads.observed_at': 'When it was asked',
};

/** Unlogged: it is told anew every few seconds. */
export class EngineLoads1700000000421 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create unlogged table engine_loads (
        instance_id text primary key,
        revision_id text not null,
        tenant_id text not null,
        waiting float8,
        kv_usage float8,
        observed_at timestamptz not null default now()
      )`);
    await runner.query('create index engine_loads_revision on engine_loads (revision_id)');
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_tenant_table('engine_loads')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table engine_loads');
  }
}

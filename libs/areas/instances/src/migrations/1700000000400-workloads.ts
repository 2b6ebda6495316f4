import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Workloads1700000000400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table workloads (
        revision_id text primary key,
        tenant_id text not null,
        deployment_id text not null,
        revision_name text not null,
        target text not null,
        replicas int not null check (replicas > 0),
        spec jsonb not null,
        is_active boolean not null default true,
        activated_at timestamptz not null default now(),
        changed_at timestamptz not null default now(),
        created_at timestamptz not null default now()
      )`);
    await runner.query(`create index workloads_active on workloads (target, activated_at) where is_active`);
    await runner.query(
      `comment on table workloads is 'What should run: one row for each revision that was ever wanted. Requests and steps write it, the reconciler of its target makes it so'`,
    );
    const columns: Record<string, string> = {
      revision_id: 'Revision whose instances these are',
      tenant_id: 'Owning tenant',
      deployment_id: 'Deployment of the revision',
      revision_name: 'Name of the revision, for gateways and events',
      target: "Execution target of the operator's configuration",
      replicas: 'Instances to run while somebody holds the workload',
      spec: 'The spec of the revision; secrets stand in it by name only',
      is_active: 'False once its last instance has stopped; a hold alone does not bring it back, wanting it does',
      activated_at: 'When it was last wanted while inactive; older workloads start first',
      changed_at: 'Last change that somebody may wait for: readiness, a crash, a stop',
      created_at: 'First wish',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column workloads.${column} is '${text.replaceAll("'", "''")}'`);
    await runner.query(`select slipway_tenant_table('workloads')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table workloads');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'column workloads.replicas': 'Instances to run while somebody holds the workload; 0 while it sleeps',
  'table workload_scalings': 'What the scaler must remember of a workload from one decision to the next',
  'column workload_scalings.revision_id': 'Revision',
  'column workload_scalings.tenant_id': 'Owning tenant',
  'column workload_scalings.low_since': 'Since when fewer instances would do, without a break',
  'column workload_scalings.asleep_since': 'It went to sleep then, and no instance has been ready since',
  'column workload_scalings.failures': 'Starts out of this sleep that came to nothing',
  'column workload_scalings.failed_at': 'When the last of them was given up',
  'column workload_scalings.failure': 'Class of its cause',
};

export class WorkloadScalings1700000000420 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table workloads drop constraint workloads_replicas_check');
    await runner.query('alter table workloads add constraint workloads_replicas_check check (replicas >= 0)');
    await runner.query(`
      create table workload_scalings (
        revision_id text primary key,
        tenant_id text not null,
        low_since timestamptz,
        asleep_since timestamptz,
        failures int not null default 0,
        failed_at timestamptz,
        failure text
      )`);
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`select slipway_tenant_table('workload_scalings')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table workload_scalings');
    await runner.query('update workloads set replicas = 1 where replicas = 0');
    await runner.query('alter table workloads drop constraint workloads_replicas_check');
    await runner.query('alter table workloads add constraint workloads_replicas_check check (replicas > 0)');
  }
}

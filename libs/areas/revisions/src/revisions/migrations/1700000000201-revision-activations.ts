import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RevisionActivations1700000000201 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table revision_activations (
        id bigint generated always as identity primary key,
        tenant_id text not null,
        deployment_id text not null,
        revision_id text not null,
        operation_id text,
        is_left_by_rollback boolean not null default false,
        activated_at timestamptz not null default clock_timestamp()
      )`);
    await runner.query(`create index revision_activations_newest on revision_activations (deployment_id, id desc)`);
    await runner.query(`select slipway_tenant_table('revision_activations')`);
    await runner.query(
      `comment on table revision_activations is 'Which revision held all traffic, in order: what a rollback without a target goes back through'`,
    );
    await runner.query(
      `comment on column revision_activations.is_left_by_rollback is 'A rollback went away from it, so no later rollback picks it by itself'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table revision_activations');
  }
}

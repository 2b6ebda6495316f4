import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Revisions1700000000200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table revisions (
        id text primary key,
        tenant_id text not null,
        deployment_id text not null,
        number int not null,
        name text not null,
        state text not null default 'pending'
          check (state in ('pending','provisioning','ready','active','standby','draining','retired','failed')),
        spec jsonb not null,
        spec_digest text not null,
        source jsonb not null,
        change_ref text,
        created_by jsonb not null,
        message text not null default '',
        created_at timestamptz not null default now(),
        ready_at timestamptz,
        unique (deployment_id, number)
      )`);
    await runner.query(`create index revisions_by_digest on revisions (deployment_id, spec_digest)`);
    await runner.query(`select slipway_tenant_table('revisions')`);
    await runner.query(
      `comment on table revisions is 'Immutable specs of deployments, numbered from 1; only state, message and times change'`,
    );
    await runner.query(
      `comment on column revisions.spec_digest is 'SHA-256 of the canonical spec: an equal spec reuses the revision'`,
    );
    await runner.query(
      `comment on column revisions.source is '{kind: rollout|plan|import, operation_id, plan_id, base_revision}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table revisions');
  }
}

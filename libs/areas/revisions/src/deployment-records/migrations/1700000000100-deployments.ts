import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Deployments1700000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table deployments (
        id text primary key,
        tenant_id text not null,
        name text not null,
        display_name text,
        description text,
        labels jsonb not null default '{}',
        environment text,
        default_strategy jsonb,
        revision_history_limit int not null default 10,
        state text not null default 'creating'
          check (state in ('creating','active','progressing','paused','degraded','failed','deleting')),
        conditions jsonb not null default '[]',
        active_revision_id text,
        candidate_revision_id text,
        previous_revision_id text,
        current_operation_id text,
        version int not null default 1,
        created_by jsonb not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        deleted_at timestamptz
      ) with (fillfactor = 70)`);
    await runner.query(
      `create unique index deployments_name on deployments (tenant_id, name) where deleted_at is null`,
    );
    await runner.query(`create index deployments_newest on deployments (tenant_id, id desc) where deleted_at is null`);
    await runner.query(`create index deployments_living on deployments (id) where deleted_at is null`);
    await runner.query(`select slipway_tenant_table('deployments')`);
    const comments: Record<string, string> = {
      id: 'dep_ and a UUIDv7',
      tenant_id: 'Owning tenant',
      name: 'What clients send as model; unique among the living deployments of a tenant',
      display_name: 'For people',
      description: 'For people',
      labels: 'Keys and values of the owner',
      environment: 'Such as production; meant for filters',
      default_strategy: 'Strategy of a rollout that names none: {type, steps}',
      revision_history_limit: 'How many revisions that nothing refers to are kept',
      state: 'What the deployment is about as a whole',
      conditions: '[{type, status, reason, message, last_transition_at}] as last observed',
      active_revision_id: 'The revision that last held 100 % of the traffic',
      candidate_revision_id: 'The revision a rollout has built or is building',
      previous_revision_id: 'The revision a rollback goes to by default',
      current_operation_id: 'The live rollout, rollback or deletion',
      version: 'Rises at every change a person or an operation makes; the ETag is made of it',
      created_by: '{type, id} of the actor',
      created_at: 'Creation',
      updated_at: 'Last change',
      deleted_at: 'End of its deletion; the row stays for what refers to it, its name is free',
    };
    await runner.query(`comment on table deployments is 'Named inference services of a tenant'`);
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column deployments.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table deployments');
  }
}

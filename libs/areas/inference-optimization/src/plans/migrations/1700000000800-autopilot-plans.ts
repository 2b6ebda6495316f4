import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AutopilotPlans1700000000800 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table autopilot_plans (
        id text primary key,
        tenant_id text not null,
        deployment_id text not null,
        deployment_name text not null,
        base_revision_id text not null,
        spec_digest text not null,
        content jsonb not null,
        content_digest text not null,
        approvals_required int not null check (approvals_required > 0),
        prevent_self_approval boolean not null,
        created_by jsonb not null,
        created_at timestamptz not null,
        expires_at timestamptz not null
      )`);
    await runner.query(`create index autopilot_plans_newest on autopilot_plans (tenant_id, id desc)`);
    await runner.query(`create index autopilot_plans_of_deployment on autopilot_plans (deployment_id, id desc)`);
    await runner.query(`create index autopilot_plans_expiry on autopilot_plans (expires_at)`);
    await runner.query(`select slipway_tenant_table('autopilot_plans')`);
    // What people approve must be what is executed.
    await runner.query(`create function autopilot_plans_are_immutable() returns trigger language plpgsql as $$
      begin raise exception 'a plan never changes; decisions about it are rows of their own'; end $$`);
    await runner.query(
      `create trigger immutable before update on autopilot_plans for each row execute function autopilot_plans_are_immutable()`,
    );
    const comments: Record<string, string> = {
      id: 'plan_ and a UUIDv7',
      tenant_id: 'Owning tenant',
      deployment_id: 'Deployment the plan is for',
      deployment_name: 'Its name, which never changes',
      base_revision_id: 'The revision that was active when the plan was made; another active one makes the plan stale',
      spec_digest: 'SHA-256 of the spec that executing the plan builds',
      content: 'Everything frozen, as answers show it',
      content_digest: 'SHA-256 of the canonical content',
      approvals_required: 'Distinct people who must approve, as the cited policy says',
      prevent_self_approval: 'The creator cannot approve, as the cited policy says',
      created_by: '{type, id} of the actor',
      created_at: 'Creation, as in the content',
      expires_at: 'From then on it can be neither approved nor executed',
    };
    await runner.query(
      `comment on table autopilot_plans is 'Immutable advisory plans; their states follow from the decisions and the clock'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column autopilot_plans.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table autopilot_plans');
    await runner.query('drop function autopilot_plans_are_immutable()');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class OptimizationPolicies1700000000700 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table optimization_policies (
        deployment_id text not null,
        version int not null check (version > 0),
        tenant_id text not null,
        content jsonb not null,
        digest text not null,
        updated_by jsonb not null,
        updated_at timestamptz not null default now(),
        primary key (deployment_id, version)
      )`);
    await runner.query(`select slipway_tenant_table('optimization_policies')`);
    // Plans cite a version: what it said must stay what it said.
    await runner.query(`create function optimization_policies_are_immutable() returns trigger language plpgsql as $$
      begin raise exception 'a version of a policy never changes'; end $$`);
    await runner.query(
      `create trigger immutable before update on optimization_policies for each row execute function optimization_policies_are_immutable()`,
    );
    const comments: Record<string, string> = {
      deployment_id: 'Deployment the policy is for',
      version: 'From 1; the highest is in force',
      tenant_id: 'Owning tenant',
      content: 'The policy, complete with its defaults',
      digest: 'SHA-256 of the canonical content: an equal content makes no new version',
      updated_by: '{type, id} of the actor',
      updated_at: 'When this version was set',
    };
    await runner.query(
      `comment on table optimization_policies is 'Every version of the continual-optimization policies of deployments'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column optimization_policies.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table optimization_policies');
    await runner.query('drop function optimization_policies_are_immutable()');
  }
}

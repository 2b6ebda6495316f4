import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The gate that rollouts take by default, and what a deployment is guarded against. */
export class DeploymentSettings1700000000101 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table deployments
        add column default_analysis jsonb,
        add column protection jsonb not null default '{"deletion": false, "rollouts": "any"}'`);
    const comments = {
      default_analysis: 'Gate of a rollout that names none: {metrics, on_failure, on_inconclusive}',
      protection: '{deletion, rollouts}: whether it cannot be deleted, and which rollouts it takes',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column deployments.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table deployments drop column default_analysis, drop column protection');
  }
}

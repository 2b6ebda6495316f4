import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Plans count. Decisions are records, because a plan can be approved even if the quota is full. */
export class StoredPlans1700000000806 implements MigrationInterface {
  /** One table at a time: locks on several would meet transactions that hold one and wait for another. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_count_stored('autopilot_plans', array['content'], 'plans', false)`);
    await runner.query(`select slipway_count_stored('autopilot_plan_decisions', array['comment'], null, true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('autopilot_plans')`);
    await runner.query(`select slipway_uncount_stored('autopilot_plan_decisions')`);
  }
}

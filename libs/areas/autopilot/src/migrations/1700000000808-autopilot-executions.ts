import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The autopilot learns which rollouts executed a plan. */
export class AutopilotExecutions1700000000808 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_subscribe('autopilot-executions', '{rollout.promoted,rollout.reverted}')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from event_subscriptions where subscription = 'autopilot-executions'`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AutopilotSubscription1700000000803 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_subscribe('autopilot', '{policy.updated}')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from event_subscriptions where subscription = 'autopilot'`);
  }
}

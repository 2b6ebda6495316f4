import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the last round did for a deployment, or why it did nothing. */
export class AutopilotRoundDecision1700000000805 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table autopilot_schedules add column decision jsonb`);
    await runner.query(
      `comment on column autopilot_schedules.decision is 'The last decision, {plan_id | because, message, until, at}; null before the first round'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table autopilot_schedules drop column decision');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** No transaction of the product may change or delete an audit row; sealing fills in three columns. */
export class AuditAppendOnly1700000001301 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`revoke update, delete on audit_log from slipway_tenant, slipway_system`);
    await runner.query(`grant update (sequence, previous_hash, hash) on audit_log to slipway_system`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`grant update, delete on audit_log to slipway_tenant, slipway_system`);
  }
}

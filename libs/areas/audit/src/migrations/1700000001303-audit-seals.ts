import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sealing fills in five columns now: a keyed seal stands beside each hash. A worker of before, which still runs while this one is put in, must
 * not go on with the chain: its rows would look like somebody's without the key. Rows that it sealed stay as they are.
 */
export class AuditSeals1700000001303 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`grant update (key_id, seal) on audit_log to slipway_system`);
    await runner.query(
      `alter table audit_log add constraint audit_log_hash_with_seal check (hash is null or seal is not null) not valid`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table audit_log drop constraint audit_log_hash_with_seal`);
    await runner.query(`revoke update (key_id, seal) on audit_log from slipway_system`);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Idempotency1700000000023 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table idempotency_keys (
        tenant_id text not null,
        method text not null,
        path text not null,
        key text not null,
        fingerprint text not null,
        claimed_until timestamptz not null,
        status int,
        headers jsonb,
        answer jsonb,
        created_at timestamptz not null default now(),
        primary key (tenant_id, method, path, key)
      )`);
    await runner.query(`select slipway_tenant_table('idempotency_keys')`);
    await runner.query(
      `comment on table idempotency_keys is 'Keys of mutations that are not operations, with the answer to replay'`,
    );
    await runner.query(
      `comment on column idempotency_keys.claimed_until is 'While answer is null: when the claim of a request that died may be taken over'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table idempotency_keys');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a gateway needs to check a token and to note its use. */
export class GatewayTokens1700000000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `grant select (id, tenant_id, scopes, secret_sha256, expires_at, revoked_at, last_used_at), update (last_used_at) on api_tokens to slipway_gateway`,
    );
    await runner.query(`create policy gateway_reads on api_tokens for select to slipway_gateway using (true)`);
    await runner.query(`create policy gateway_notes on api_tokens for update to slipway_gateway using (true)`);
    await runner.query(`grant select (id, name, is_operator) on tenants to slipway_gateway`);
    await runner.query(`create policy gateway_reads on tenants for select to slipway_gateway using (true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop policy gateway_reads on tenants');
    await runner.query('revoke select (id, name, is_operator) on tenants from slipway_gateway');
    await runner.query('drop policy gateway_notes on api_tokens');
    await runner.query('drop policy gateway_reads on api_tokens');
    await runner.query(
      'revoke select (id, tenant_id, scopes, secret_sha256, expires_at, revoked_at, last_used_at), update (last_used_at) on api_tokens from slipway_gateway',
    );
  }
}

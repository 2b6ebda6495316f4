import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Gateways read what is published, and write what they saw and how they are. */
const GRANTS: Record<string, string> = {
  dataplane_routes: 'select',
  dataplane_backends: 'select',
  dataplane_published: 'select',
  dataplane_gateways: 'select, insert, update, delete',
  dataplane_followed_routes: 'select, insert, update, delete',
  dataplane_inflight: 'select, insert, update, delete',
  dataplane_request_stats: 'insert',
  dataplane_passports: 'select, insert, update',
  // The trigger that counts passports runs as whoever inserts them. Not `max_passports`: that is the tenant's quota.
  dataplane_passport_counts: 'select, insert (tenant_id, passports), update (passports)',
};

export class DataplaneGatewayRole1700000000608 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [table, privileges] of Object.entries(GRANTS)) {
      await runner.query(`grant ${privileges} on ${table} to slipway_gateway`);
      // Which commands, say the privileges.
      await runner.query(`create policy gateway on ${table} to slipway_gateway using (true) with check (true)`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, privileges] of Object.entries(GRANTS)) {
      await runner.query(`drop policy gateway on ${table}`);
      await runner.query(`revoke ${privileges} on ${table} from slipway_gateway`);
    }
  }
}

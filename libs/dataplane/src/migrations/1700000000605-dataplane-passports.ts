import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DataplanePassports1700000000605 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_passports (
        id text primary key,
        tenant_id text not null,
        deployment_id text not null,
        deployment_name text not null,
        key_hash text not null,
        source text not null,
        subject text,
        mode text not null,
        ttl_seconds integer not null,
        revision_id text,
        revision_name text,
        instance_id text,
        bound_at timestamptz,
        created_at timestamptz not null default now(),
        last_seen_at timestamptz not null default now(),
        expires_at timestamptz not null,
        revoked_at timestamptz,
        requests bigint not null default 0,
        hits bigint not null default 0,
        misses bigint not null default 0,
        rebinds bigint not null default 0,
        last_rebind_reason text
      )`);
    await runner.query(`create index dataplane_passports_tenant on dataplane_passports (tenant_id, id)`);
    await runner.query(`create index dataplane_passports_expiry on dataplane_passports (expires_at)`);
    await runner.query(
      `comment on table dataplane_passports is 'Logical sessions and where their requests went; written in batches by the gateways'`,
    );
    await runner.query(`comment on column dataplane_passports.id is 'HMAC of tenant, deployment and session'`);
    await runner.query(`comment on column dataplane_passports.tenant_id is 'Tenant of the token that inferred'`);
    await runner.query(
      `comment on column dataplane_passports.deployment_id is 'Deployment, or slug:<slug> for a published product'`,
    );
    await runner.query(`comment on column dataplane_passports.deployment_name is 'What the client sent as model'`);
    await runner.query(
      `comment on column dataplane_passports.key_hash is 'HMAC of the session key; the key itself is stored nowhere'`,
    );
    await runner.query(
      `comment on column dataplane_passports.source is 'Where the session key came from: x-session-id, session_id, prompt_cache_key, user, declared'`,
    );
    await runner.query(`comment on column dataplane_passports.subject is 'Token that was last seen with the session'`);
    await runner.query(`comment on column dataplane_passports.mode is 'Affinity mode of the route: none or soft'`);
    await runner.query(
      `comment on column dataplane_passports.ttl_seconds is 'Idle time after which the binding expires'`,
    );
    await runner.query(
      `comment on column dataplane_passports.revision_id is 'Revision the session is bound to; null for a published product'`,
    );
    await runner.query(`comment on column dataplane_passports.revision_name is 'Its name'`);
    await runner.query(
      `comment on column dataplane_passports.instance_id is 'Instance the session is bound to; show a digest of it only'`,
    );
    await runner.query(`comment on column dataplane_passports.bound_at is 'When that binding was made'`);
    await runner.query(`comment on column dataplane_passports.created_at is 'First request'`);
    await runner.query(`comment on column dataplane_passports.last_seen_at is 'Last request'`);
    await runner.query(`comment on column dataplane_passports.expires_at is 'Last request plus the TTL'`);
    await runner.query(
      `comment on column dataplane_passports.revoked_at is 'From then on the session has no affinity'`,
    );
    await runner.query(`comment on column dataplane_passports.requests is 'Requests seen'`);
    await runner.query(`comment on column dataplane_passports.hits is 'Requests served where the session was bound'`);
    await runner.query(`comment on column dataplane_passports.misses is 'Requests that made the first binding'`);
    await runner.query(`comment on column dataplane_passports.rebinds is 'Requests that had to change the binding'`);
    await runner.query(
      `comment on column dataplane_passports.last_rebind_reason is 'target_unhealthy, revision_retired, weights_changed, ttl_expired or capacity'`,
    );
    await runner.query(`select slipway_tenant_table('dataplane_passports')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_passports');
  }
}

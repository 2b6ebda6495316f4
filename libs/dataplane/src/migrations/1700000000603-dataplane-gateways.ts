import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the running gateways tell: that they live, which generations they follow, what they have in flight. */
export class DataplaneGateways1700000000603 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_gateways (
        gateway_id text primary key,
        started_at timestamptz not null default now(),
        seen_at timestamptz not null default now(),
        stats_until timestamptz
      )`);
    await runner.query(`comment on table dataplane_gateways is 'Heartbeats of the gateway processes'`);
    await runner.query(`comment on column dataplane_gateways.gateway_id is 'One run of a gateway process'`);
    await runner.query(`comment on column dataplane_gateways.started_at is 'First heartbeat'`);
    await runner.query(`comment on column dataplane_gateways.seen_at is 'Last heartbeat, by the clock of Postgres'`);
    await runner.query(
      `comment on column dataplane_gateways.stats_until is 'All request statistics of windows before this time are stored'`,
    );
    await runner.query(`select slipway_system_table('dataplane_gateways')`);
    // A tenant's rollout asks whether every gateway follows its route, so its transaction counts gateways. Nothing here is secret.
    await runner.query(`create policy tenant on dataplane_gateways for select to slipway_tenant using (true)`);
    await runner.query(`grant select on dataplane_gateways to slipway_tenant`);

    await runner.query(`
      create table dataplane_followed_routes (
        gateway_id text not null,
        deployment_id text not null,
        tenant_id text not null,
        generation bigint not null,
        updated_at timestamptz not null default now(),
        primary key (deployment_id, gateway_id)
      )`);
    await runner.query(
      `comment on table dataplane_followed_routes is 'The generation of each route that each gateway serves'`,
    );
    await runner.query(`comment on column dataplane_followed_routes.gateway_id is 'Gateway'`);
    await runner.query(`comment on column dataplane_followed_routes.deployment_id is 'Deployment'`);
    await runner.query(`comment on column dataplane_followed_routes.tenant_id is 'Tenant of the deployment'`);
    await runner.query(
      `comment on column dataplane_followed_routes.generation is 'No request drawn from an older one starts any more'`,
    );
    await runner.query(`comment on column dataplane_followed_routes.updated_at is 'When the gateway said so'`);
    await runner.query(`select slipway_tenant_table('dataplane_followed_routes')`);

    await runner.query(`
      create table dataplane_inflight (
        gateway_id text not null,
        revision_id text not null,
        tenant_id text not null,
        in_flight integer not null,
        updated_at timestamptz not null default now(),
        primary key (revision_id, gateway_id)
      )`);
    await runner.query(
      `comment on table dataplane_inflight is 'Requests in flight per gateway and revision; rows older than 5 s count for nothing'`,
    );
    await runner.query(`comment on column dataplane_inflight.gateway_id is 'Gateway'`);
    await runner.query(`comment on column dataplane_inflight.revision_id is 'Revision'`);
    await runner.query(`comment on column dataplane_inflight.tenant_id is 'Tenant of the revision'`);
    await runner.query(
      `comment on column dataplane_inflight.in_flight is 'Requests sent to an instance and not ended'`,
    );
    await runner.query(
      `comment on column dataplane_inflight.updated_at is 'Refreshed every 2 s while the count is not 0'`,
    );
    await runner.query(`select slipway_tenant_table('dataplane_inflight')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table dataplane_inflight');
    await runner.query('drop table dataplane_followed_routes');
    await runner.query('drop table dataplane_gateways');
  }
}

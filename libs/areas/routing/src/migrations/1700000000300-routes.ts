import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Routes1700000000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table routes (
        deployment_id text primary key,
        tenant_id text not null,
        generation int not null,
        targets jsonb not null,
        slots smallint[] not null check (cardinality(slots) in (0, 100)),
        affinity jsonb not null,
        reason text,
        updated_by jsonb not null,
        updated_at timestamptz not null default now()
      ) with (fillfactor = 70)`);
    await runner.query(`select slipway_tenant_table('routes')`);
    const comments: Record<string, string> = {
      deployment_id: 'Deployment',
      tenant_id: 'Owning tenant',
      generation: 'Rises by one at every change, a removal included',
      targets: '[{revision_id, revision_name, weight}]; empty after the route was removed',
      slots: 'Which target has each of the 100 slots, as an index into targets',
      affinity: '{mode, ttl_seconds}',
      reason: 'Why the last change was made',
      updated_by: '{type, id} of the actor of the last change',
      updated_at: 'Last change',
    };
    await runner.query(
      `comment on table routes is 'Which revision gets which share of a deployment''s traffic; the gateways follow the copy in dataplane_routes'`,
    );
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column routes.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table routes');
  }
}

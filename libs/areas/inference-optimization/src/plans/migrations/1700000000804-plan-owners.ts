import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For whom a plan, and a decision about it, counts as theirs; and what the cited policy says about signed-in identities. */
export class PlanOwners1700000000804 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table autopilot_plans
        add column require_hosted_identity boolean not null default false,
        add column creator_owner jsonb,
        add column creator_minters jsonb not null default '[]'`);
    await runner.query(`alter table autopilot_plan_decisions add column owner jsonb`);
    const tables = ['api_tokens', 'autopilot_plans', 'autopilot_plan_decisions'];
    // Forced row-level security would hide every row from an owner of the tables who is no superuser.
    for (const table of tables) await runner.query(`alter table ${table} no force row level security`);
    await runner.query('alter table autopilot_plans disable trigger immutable');
    await runner.query(
      `update autopilot_plans set creator_owner = ${ownerOf('autopilot_plans.created_by')} where created_by->>'type' <> 'system'`,
    );
    await runner.query('alter table autopilot_plans enable trigger immutable');
    await runner.query(
      `update autopilot_plan_decisions set owner = ${ownerOf('autopilot_plan_decisions.actor')} where actor->>'type' <> 'system'`,
    );
    for (const table of tables) await runner.query(`alter table ${table} force row level security`);
    const comments = {
      'autopilot_plans.require_hosted_identity': 'Only signed-in identities approve, as the cited policy says',
      'autopilot_plans.creator_owner': '{type, id} of who answers for the creator; null for the autopilot',
      'autopilot_plans.creator_minters': 'Owners of the tokens by which that of the creator was minted',
      'autopilot_plan_decisions.owner': '{type, id} of who answers for the actor; null for the system',
    };
    for (const [column, text] of Object.entries(comments))
      await runner.query(`comment on column ${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table autopilot_plan_decisions drop column owner');
    await runner.query(
      'alter table autopilot_plans drop column require_hosted_identity, drop column creator_owner, drop column creator_minters',
    );
  }
}

/** The owner of an actor's token; an actor without one is a person by its own text. */
function ownerOf(actor: string): string {
  return `coalesce(
    (select jsonb_build_object('type', k.owner_type, 'id', k.owner_id) from api_tokens k where ${actor}->>'type' = 'token' and k.id = ${actor}->>'id'),
    jsonb_build_object('type', 'person', 'id', (${actor}->>'type') || ':' || (${actor}->>'id')))`;
}

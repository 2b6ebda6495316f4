import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who answers for a token. Tokens of before inherit from their makers, as new ones do: all that came from one token are one
 * person, so that nobody becomes able to approve what they planned with another token of theirs.
 */
export class TokenOwners1700000000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table api_tokens
        add column owner_type text check (owner_type in ('person', 'service')),
        add column owner_id text,
        add column minters jsonb not null default '[]'`);
    // Forced row-level security would hide every row from an owner of the table who is no superuser.
    await runner.query('alter table api_tokens no force row level security');
    await runner.query(`
      with recursive lineage as (
        select k.id, k.tenant_id, case
          when k.created_by = 'system:configuration' then 'operator'
          when k.created_by like 'user:%' then k.created_by
          when exists (select from api_tokens m where m.id = substr(k.created_by, 7) and m.tenant_id <> k.tenant_id) then 'admin'
          else 'token:' || k.id end as owner_id
        from api_tokens k
        where not exists (select from api_tokens m where k.created_by = 'token:' || m.id and m.tenant_id = k.tenant_id)
        union all
        select k.id, k.tenant_id, l.owner_id from lineage l join api_tokens k on k.created_by = 'token:' || l.id and k.tenant_id = l.tenant_id
      )
      update api_tokens k set owner_type = 'person', owner_id = l.owner_id from lineage l where l.id = k.id`);
    await runner.query('alter table api_tokens force row level security');
    await runner.query(`
      alter table api_tokens alter column owner_type set not null, alter column owner_id set not null, alter column minters drop default`);
    // For the rows of usage that gateways write.
    await runner.query('grant select (owner_type, owner_id) on api_tokens to slipway_gateway');
    const columns = {
      owner_type: 'person or service: who answers for the token',
      owner_id: 'Name of the owner; user: and their sub for a person of the hosted provider',
      minters: 'Owners of the tokens by which it was minted, each once: [{type, id}]',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column api_tokens.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_tokens drop column owner_type, drop column owner_id, drop column minters');
  }
}

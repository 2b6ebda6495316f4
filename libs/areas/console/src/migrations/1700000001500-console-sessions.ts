import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A system table: the tenant is what the credential of a session finds out, at each request anew. */
export class ConsoleSessions1700000001500 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table console_sessions (
        id text primary key,
        method text not null check (method in ('token', 'hosted')),
        who text not null,
        sealed_credentials text not null,
        renew_at timestamptz,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null
      )`);
    await runner.query(`create index console_sessions_by_who on console_sessions (who, created_at)`);
    await runner.query(`create index console_sessions_by_end on console_sessions (expires_at)`);
    await runner.query(`select slipway_system_table('console_sessions')`);
    await runner.query(
      `comment on table console_sessions is 'Sign-ins to the console; whether their credential still holds is asked at each request'`,
    );
    const columns = {
      id: 'SHA-256 of the secret in the cookie, hex',
      method: 'How it was signed in: by an API token, or at the hosted identity provider',
      who: 'Actor as type:id; sessions are bounded for each',
      sealed_credentials: 'JSON of the bearer credential and, of a hosted session, the refresh token; sealed',
      renew_at: 'When the next request renews the credential; null if nothing can',
      created_at: 'When it was signed in',
      expires_at: 'When it ends at the latest',
    };
    for (const [column, text] of Object.entries(columns))
      await runner.query(`comment on column console_sessions.${column} is '${text}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table console_sessions');
  }
}

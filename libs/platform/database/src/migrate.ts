import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { Config } from '@slipway/platform-config/load';
import { StartupError } from '@slipway/platform-config/startup';
import { APPLIED, BREAKS, type Migration, schemaProblem } from './schema.js';
import { keyProblems, type SealedColumn } from './sealed-column.js';

/**
 * A statement that waits for a lock delays all later ones, readers included, so it gives up after this time and tries
 * again.
 */
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 500;
const PATIENCE_MS = 120_000;
/** Any constant: two migrators must use the same lock. */
const LOCK_KEY = 7_310_070;

/**
 * Applies the missing migrations in timestamp order, under an advisory lock, so that any number of processes may call
 * it at once, also while others serve. Each migration is a transaction that waits a second for its locks and is then
 * tried again.
 * @param ownerUrl connection that may create tables and roles
 * @param appUrl connection of the running product, whose role is added to the three application roles
 * @param gatewayUrl connection of gateways, whose role is created if it is missing, and is added only to the role of
 * gateways
 * @returns the names of the migrations applied now
 * @throws Error if a migration fails, or gets no lock for two minutes; the migrations before it stay applied
 */
export async function migrate(
  ownerUrl: string,
  migrations: readonly Migration[],
  appUrl: string,
  gatewayUrl = appUrl,
): Promise<string[]> {
  const lock = new pg.Client({ connectionString: ownerUrl });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    await tellBreaks(lock, migrations);
    const source = await new DataSource({
      type: 'postgres',
      driver: pg,
      url: ownerUrl,
      migrations: [...migrations],
      migrationsTableName: APPLIED,
      migrationsTransactionMode: 'each',
      // Otherwise every attempt that finds a lock taken would print a line on stdout.
      logger: 'debug',
      extra: { lock_timeout: LOCK_TIMEOUT_MS },
    }).initialize();
    try {
      const before = await appliedNames(lock);
      await apply(source);
      const app = loginOf(appUrl);
      const gateway = loginOf(gatewayUrl);
      const hasOwnGateway = gateway.name !== app.name;
      if (hasOwnGateway) await ensureLogin(lock, gateway, gatewayUrl);
      const logins = [...new Set([app.name, gateway.name])].map(pg.escapeIdentifier).join(', ');
      await lock.query(`grant select on ${APPLIED}, ${BREAKS} to ${logins}`);
      // Gateways of an installation with one login take their role from it.
      await admit(lock, app.name, ['slipway_tenant', 'slipway_system', 'slipway_gateway']);
      if (hasOwnGateway) await admit(lock, gateway.name, ['slipway_gateway']);
      return [...(await appliedNames(lock))].filter((name) => !before.has(name));
    } finally {
      await source.destroy();
    }
  } finally {
    await lock.end();
  }
}

/** Runs before the migrations: a process that starts in between must not find a breaking migration without its mark. */
async function tellBreaks(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  await client.query(`create table if not exists ${BREAKS} (name text primary key, breaks_before text not null)`);
  await client.query(
    `comment on table ${BREAKS} is 'Migrations with which processes that do not know the one named in breaks_before cannot work'`,
  );
  for (const { name, breaksBefore } of migrations) {
    if (breaksBefore === undefined) continue;
    await client.query(
      `insert into ${BREAKS} (name, breaks_before) values ($1, $2) on conflict (name) do update set breaks_before = excluded.breaks_before`,
      [name, breaksBefore],
    );
  }
}

async function apply(source: DataSource): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      await source.runMigrations();
      return;
    } catch (error) {
      // lock_not_available: the migration was rolled back as a whole, and those before it need not run again.
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (performance.now() > deadline)
        throw new Error(
          'could not get a lock within two minutes, because a transaction is still open: `select pid, query from pg_stat_activity where xact_start is not null order by xact_start` shows the oldest',
        );
      await delay(PAUSE_MS);
    }
  }
}

async function appliedNames(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query(`select to_regclass('public.${APPLIED}') as found`);
  if (!rows[0].found) return new Set();
  return new Set((await client.query(`select name from ${APPLIED} order by id`)).rows.map((row) => row.name as string));
}

interface Login {
  name: string;
  password: string;
}

function loginOf(url: string): Login {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username) || 'postgres', password: decodeURIComponent(password) };
}

/**
 * Lets an update create the gateways' login in an installation whose database was made without it, and set its password
 * if that has changed.
 */
async function ensureLogin(client: pg.Client, { name, password }: Login, url: string): Promise<void> {
  const role = pg.escapeIdentifier(name);
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [name]);
  if (rowCount === 0) await client.query(`create role ${role} login noinherit password ${pg.escapeLiteral(password)}`);
  const { rows } = await client.query(
    `select format('grant connect on database %I to %I', current_database(), $1::text) as grant
     where not has_database_privilege($1, current_database(), 'connect')`,
    [name],
  );
  if (rows[0]) await client.query(rows[0].grant);
  if (password && !(await opens(url))) await client.query(`alter role ${role} password ${pg.escapeLiteral(password)}`);
}

async function opens(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch (error) {
    // No other problem would be fixed by another password.
    return (error as { code?: string }).code !== '28P01';
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function admit(client: pg.Client, login: string, roles: readonly string[]): Promise<void> {
  const { rows } = await client.query(
    // Since version 16 the creator of a role is its member but may not take it, so membership alone is not enough.
    `with server as (select current_setting('server_version_num')::int as version), asked as (select version, case when version >= 160000 then 'SET' else 'MEMBER' end as how from server)
     select version, rolsuper or (select bool_and(pg_has_role(rolname, taken, how)) from unnest($2::text[]) taken) as is_admitted from pg_roles, asked where rolname = $1`,
    [login, roles],
  );
  if (rows[0]?.is_admitted) return;
  // Without INHERIT the login role sees nothing until a transaction takes one of its roles.
  const how = rows[0]?.version >= 160_000 ? 'with inherit false, set true' : '';
  await client.query(`grant ${roles.join(', ')} to ${pg.escapeIdentifier(login)} ${how}`);
}

/**
 * Checks that this process fits the database. A process that is too old for the schema would write rows that others
 * cannot read, and one with another key cannot open any credential.
 * @throws StartupError
 */
export async function requireFit(
  { database, keyRing }: Config,
  migrations: readonly Migration[],
  sealed: readonly SealedColumn[],
): Promise<void> {
  const unfit = await schemaProblem(database.url, { known: migrations.map(({ name }) => name) });
  if (unfit) throw new StartupError(unfit);
  const [problem] = await keyProblems(database.url, sealed, keyRing);
  if (problem) throw new StartupError(problem);
}

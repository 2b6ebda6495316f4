import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';

export type Migration = new () => MigrationInterface;

const TABLE = 'schema_migrations';
/** Any constant: two migrators must ask for the same lock. */
const LOCK_KEY = 7_310_070;

/**
 * Applies what is missing, in timestamp order, under an advisory lock, so that any number of processes may call it at once.
 * @param ownerUrl connection that may create tables and roles
 * @param appUrl connection of the running product; its role is admitted to the two application roles
 * @returns the names of the migrations applied now
 */
export async function migrate(ownerUrl: string, migrations: readonly Migration[], appUrl: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: ownerUrl });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    const source = await new DataSource({
      type: 'postgres',
      url: ownerUrl,
      migrations: [...migrations],
      migrationsTableName: TABLE,
      migrationsTransactionMode: 'each',
    }).initialize();
    try {
      const applied = await source.runMigrations();
      await admit(lock, decodeURIComponent(new URL(appUrl).username) || 'postgres');
      return applied.map((migration) => migration.name);
    } finally {
      await source.destroy();
    }
  } finally {
    await lock.end();
  }
}

/**
 * What stands between this process and the database's schema: names the process does not know (a newer version migrated)
 * and names not applied yet. Both empty means they fit.
 */
export async function schemaGap(
  appUrl: string,
  migrations: readonly Migration[],
): Promise<{ unknown: string[]; missing: string[] }> {
  const client = new pg.Client({ connectionString: appUrl });
  await client.connect();
  try {
    const known = new Set(migrations.map((migration) => migration.name));
    const exists = await client.query(`select to_regclass('public.${TABLE}') as found`);
    if (!exists.rows[0].found) return { unknown: [], missing: [...known] };
    const applied: string[] = (await client.query(`select name from ${TABLE}`)).rows.map((row) => row.name);
    return {
      unknown: applied.filter((name) => !known.has(name)),
      missing: [...known].filter((name) => !applied.includes(name)),
    };
  } finally {
    await client.end();
  }
}

async function admit(client: pg.Client, appRole: string): Promise<void> {
  const role = pg.escapeIdentifier(appRole);
  await client.query(`grant select on ${TABLE} to ${role}`);
  const { rows } = await client.query(
    // Since 16 a role's maker is its member without being allowed to take it, so membership alone says too little.
    `with server as (select current_setting('server_version_num')::int as version), asked as (select version, case when version >= 160000 then 'SET' else 'MEMBER' end as how from server)
     select version, rolsuper or (pg_has_role(rolname, 'slipway_tenant', how) and pg_has_role(rolname, 'slipway_system', how)) as is_admitted from pg_roles, asked where rolname = $1`,
    [appRole],
  );
  if (rows[0]?.is_admitted) return;
  // Without INHERIT the login role sees nothing until a transaction takes one of the two roles.
  const how = rows[0]?.version >= 160_000 ? 'with inherit false, set true' : '';
  await client.query(`grant slipway_tenant, slipway_system to ${role} ${how}`);
}

import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Migration } from '../schema.js';

/**
 * A database for one test. `url` is the application's login, `gatewayUrl` that of gateways, and `ownerUrl` may change
 * the schema.
 */
export interface TestDatabase {
  url: string;
  gatewayUrl: string;
  ownerUrl: string;
  drop(): Promise<void>;
}

const APP_ROLE = 'slipway_app';
const GATEWAY_ROLE = 'slipway_gateway_app';
/** Any constant: test processes that build templates at once must use the same lock. */
const LOCK_KEY = 7_310_071;

/** A database that is copied for tests. */
export interface Template {
  /** Differs for each schema; a part of a name in Postgres. */
  key: string;
  /** Called once per server, on an empty database. */
  fill(database: Omit<TestDatabase, 'drop'>): Promise<void>;
}

/** Creates a database with these migrations. */
export function createTestDatabase(migrations: readonly Migration[]): Promise<TestDatabase> {
  const sources = migrations.map((migration) => migration.name + migration.toString()).sort();
  return copyOf({
    key: createHash('sha256').update(sources.join()).digest('hex').slice(0, 16),
    async fill({ ownerUrl, url, gatewayUrl }) {
      // Imported only if needed: a process that finds the template loads no TypeORM.
      const { migrate } = await import('../migrate.js');
      await migrate(ownerUrl, migrations, url, gatewayUrl);
    },
  });
}

/**
 * Copies a template, which the first caller fills. The server is that of TEST_PG_URL, which Jest's global setup starts
 * if the variable is not set.
 */
export async function copyOf(template: Template): Promise<TestDatabase> {
  // Set by Jest's global setup for tests only; no process of the product reads it.
  const adminUrl = process.env['TEST_PG_URL'];
  if (!adminUrl) throw new Error('TEST_PG_URL is not set: the global setup of Jest did not run');
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    const source = await ensureTemplate(admin, adminUrl, template);
    const name = `t_${randomUUID().replaceAll('-', '')}`;
    await admin.query(`create database ${name} template ${source} strategy file_copy`);
    await admin.query(`grant create on database ${name} to ${APP_ROLE}`);
    return { ...loginsOf(adminUrl, name), drop: () => drop(adminUrl, name) };
  } finally {
    await admin.end();
  }
}

async function ensureTemplate(admin: pg.Client, adminUrl: string, { key, fill }: Template): Promise<string> {
  const template = `template_${key}`;
  await admin.query('select pg_advisory_lock($1)', [LOCK_KEY]);
  try {
    await admin.query(
      `do $$ begin create role ${APP_ROLE} login noinherit password '${APP_ROLE}'; exception when duplicate_object or unique_violation then null; end $$`,
    );
    const found = await admin.query('select 1 from pg_database where datname = $1', [template]);
    if (found.rowCount) return template;
    // Built under another name, so that an interrupted build is never mistaken for a template.
    const build = `${template}_build`;
    await admin.query(`drop database if exists ${build} with (force)`);
    await admin.query(`create database ${build}`);
    await fill(loginsOf(adminUrl, build));
    await admin.query(`alter database ${build} rename to ${template}`);
    return template;
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
  }
}

async function drop(adminUrl: string, name: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.end();
}

function loginsOf(adminUrl: string, name: string): Omit<TestDatabase, 'drop'> {
  return {
    url: as(APP_ROLE, adminUrl, name),
    gatewayUrl: as(GATEWAY_ROLE, adminUrl, name),
    ownerUrl: on(adminUrl, name),
  };
}

function on(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.toString();
}

/** The password of a test's login is its name. */
function as(login: string, adminUrl: string, database: string): string {
  const url = new URL(on(adminUrl, database));
  url.username = login;
  url.password = login;
  return url.toString();
}

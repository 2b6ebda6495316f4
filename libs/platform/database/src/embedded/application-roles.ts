import pg from 'pg';
import type { Credentials } from './credentials.js';

export const DATABASE = 'slipway';
export const OWNER_ROLE = 'slipway_owner';
export const APP_ROLE = 'slipway_app';
export const GATEWAY_ROLE = 'slipway_gateway_app';

/**
 * The embedded stack connects as neither superuser nor owner. `slipway_owner` migrates, `slipway_app` runs the product
 * (and may create schemas, for the queue's own), and `slipway_gateway_app` runs its gateway. May be called again; it
 * runs at each start, so that a start repairs an interrupted one.
 */
export async function ensureApplicationRoles(superuserUrl: string, credentials: Credentials): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    await ensureRole(client, OWNER_ROLE, 'login nosuperuser createrole nocreatedb inherit', credentials.ownerPassword);
    await ensureRole(client, APP_ROLE, 'login nosuperuser nocreaterole nocreatedb noinherit', credentials.appPassword);
    const gatewayPassword = credentials.gatewayPassword;
    await ensureRole(client, GATEWAY_ROLE, 'login nosuperuser nocreaterole nocreatedb noinherit', gatewayPassword);
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
    await client.query(`revoke all on database ${DATABASE} from public`);
    await client.query(`grant connect, create, temporary on database ${DATABASE} to ${APP_ROLE}`);
    await client.query(`grant connect on database ${DATABASE} to ${GATEWAY_ROLE}`);
  });
}

async function ensureRole(client: pg.Client, role: string, attributes: string, password: string): Promise<void> {
  const found = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  await client.query(
    `${found.rowCount === 0 ? 'create' : 'alter'} role ${role} ${attributes} password ${pg.escapeLiteral(password)}`,
  );
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

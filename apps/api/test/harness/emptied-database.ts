import pg from 'pg';

/** Replaces the database by an empty one at the same address, to which the application may connect. */
export async function emptied(url: string): Promise<void> {
  const server = new URL(url);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.toString() });
  await client.connect();
  await client.query(`drop database ${name} with (force)`);
  await client.query(`create database ${name}`);
  await client.query(`grant create on database ${name} to slipway_app`);
  await client.end();
}

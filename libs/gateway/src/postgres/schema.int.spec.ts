import { afterEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrations as authMigrations } from '@slipway/platform-http/auth';
import { migrations as platformMigrations } from '@slipway/platform-database';
import { migrations as dataplaneMigrations } from '@slipway/dataplane';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { unfitSchema } from '../index.js';

let database: TestDatabase | undefined;
afterEach(async () => {
  await database?.drop();
  database = undefined;
});

async function applied({ ownerUrl }: TestDatabase, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query('insert into schema_migrations (timestamp, name) values ($1, $2)', [name.slice(-13), name]);
  await client.query('insert into schema_breaks values ($1, $2)', [name, 'Staged1999999999990']);
  await client.end();
}

it('refuses a schema that lacks or has removed what it reads, and ignores the other parts', async () => {
  database = await createTestDatabase([...platformMigrations, ...authMigrations]);
  expect(await unfitSchema(database.url)).toMatch(/^the database lacks \d+ migrations: run `npm run migrate`$/);
  await database.drop();
  database = await createTestDatabase([...platformMigrations, ...authMigrations, ...dataplaneMigrations]);
  expect(await unfitSchema(database.gatewayUrl)).toBeUndefined();
  await applied(database, 'OfAnArea1999999999998');
  expect(await unfitSchema(database.gatewayUrl)).toBeUndefined();
  await applied(database, 'DataplaneNarrow1999999999999');
  expect(await unfitSchema(database.gatewayUrl)).toMatch(/newer version .*\(DataplaneNarrow1999999999999\)/);
});

it('has no objection while Postgres is down, because the snapshot is on disk', async () => {
  expect(await unfitSchema('postgres://slipway_app@127.0.0.1:1/slipway')).toBeUndefined();
});

it('recognizes its migrations by their name', () => {
  expect(dataplaneMigrations.filter(({ name }) => !name.startsWith('Dataplane'))).toEqual([]);
});

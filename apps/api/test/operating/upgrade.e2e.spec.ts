import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrate } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { MIGRATIONS } from '@slipway/registry';
import { emptied } from '../harness/emptied-database.js';
import { Load, RepeatedCalls } from '@slipway/platform-testing/load';
import { hasPreviousRelease, previousRelease } from './previous-release.js';
import { ROOT, Stack, until } from '../harness/stack.js';

/** With the build of the last release, which comes from a cache after the first time. */
const LONG_MS = 600_000;
jest.setTimeout(LONG_MS);

/** Compatible, and on the tables that all requests use. */
class NextRelease1999999999999 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['operations', 'deployments', 'instances', 'dataplane_routes', 'api_tokens'])
      await runner.query(`alter table ${table} add column next_release text not null default ''`);
    await runner.query('create table next_release (id text primary key)');
    await runner.query(`select slipway_system_table('next_release')`);
  }
  async down(): Promise<void> {}
}

/** Reads and mutations at one api, one after the other. */
function callsTo(stack: Stack, api: number): RepeatedCalls {
  const { deployments } = stack.slipway(api);
  return new RepeatedCalls([() => deployments.get('chat'), () => deployments.policy.set('chat', { mode: 'observe' })]);
}

/** Whether the last release judges rollouts by default. An earlier one does not know the mode that switches it off. */
let isJudging = false;

const isAsked = process.env['SLIPWAY_TEST_UPGRADE'] && hasPreviousRelease();
const upgrade = isAsked ? it : it.skip;

let stack: Stack | undefined;
let database: TestDatabase;
afterAll(() => stack?.stop());

const namesIn = async (): Promise<string[]> =>
  (await stack!.query<{ name: string }>('select name from schema_migrations')).map(({ name }) => name);

async function rollOut(name: string, model: string, api: number, strategy: object): Promise<string> {
  const spec = { model: { id: model }, runtime: { target: 'local', engine: 'sim' } };
  const body = { spec, strategy, ...((api === 1 || isJudging) && { analysis: { mode: 'none' } }) };
  return stack!.rollOut(name, body, api);
}

const CANARY = {
  type: 'canary',
  steps: [
    { traffic_percent: 50, soak_seconds: 3 },
    { traffic_percent: 100, soak_seconds: 0 },
  ],
};

const soaks = (id: string, api: number): Promise<void> =>
  until(
    'it soaks',
    async () => (await stack!.operation(id, ['waiting', 'running'], 60_000, api)).current_step === 'soak:1',
  );

upgrade('the last release serves on the schema of this one and hands over to it without a lost request', async () => {
  const old = previousRelease();
  isJudging = readFileSync(path.join(old, 'libs/sdk/openapi.json'), 'utf8').includes('"AnalysisInputDto"');
  database = await createTestDatabase(MIGRATIONS);
  await emptied(database.ownerUrl);
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    SLIPWAY_MIGRATE_DATABASE_URL: database.ownerUrl,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
  };
  await promisify(execFile)(process.execPath, [path.join(old, 'apps/api/dist/migrate.js')], { env, cwd: old });
  stack = await Stack.start({ database, root: old, gateway: true });
  const before = await namesIn();
  // The last release no longer uses what is removed now: it knows the migration that announces the removal.
  for (const { name, breaksBefore } of MIGRATIONS)
    if (breaksBefore && !before.includes(name))
      expect([name, before]).toEqual([name, expect.arrayContaining([breaksBefore])]);

  for (const name of ['chat', 'other', 'third']) {
    await stack.slipway().deployments.create({ name });
    await stack.operation(await rollOut(name, `${name}-1`, 0, { type: 'immediate' }));
  }
  const load = [new Load(stack.gatewayUrl, stack.token, 'chat', 20)];
  await until('the gateway serves', async () => load[0]!.answers.at(-1)?.status === 200);
  const refusedAtFirst = load[0]!.answers.filter(({ status }) => status !== 200).length;
  const clients = [callsTo(stack, 0)];

  // A long transaction blocks the migrations, and they must block no one else.
  const underWay = await rollOut('chat', 'chat-2', 0, CANARY);
  await soaks(underWay, 0);
  const holder = new pg.Client({ connectionString: database.ownerUrl });
  await holder.connect();
  await holder.query('begin; lock table deployments in access share mode');
  const migrated = migrate(
    database.ownerUrl,
    [...MIGRATIONS, NextRelease1999999999999],
    database.url,
    database.gatewayUrl,
  );
  await until('the migration waits', async () => {
    const waiting = await stack!.query(`select from pg_locks where not granted and relation = 'deployments'::regclass`);
    return waiting.length > 0;
  });
  const answered = clients[0]!.results.length;
  await until('the clients go on meanwhile', async () => clients[0]!.results.length > answered + 20);
  await holder.query('commit');
  await holder.end();
  expect(await migrated).toContain('NextRelease1999999999999');

  await stack.besideIt();
  clients.push(callsTo(stack, 1));
  load.push(new Load(stack.gatewayUrlOf(1), stack.token, 'chat', 20));
  expect(await stack.operation(underWay)).toMatchObject({ status: 'succeeded' });

  // Begun by the new processes and finished by the old worker alone; then the reverse.
  const byNew = await rollOut('other', 'other-2', 1, CANARY);
  await soaks(byNew, 1);
  await stack.kill('worker', 1, 'SIGTERM');
  expect(await stack.operation(byNew, undefined, 60_000, 1)).toMatchObject({ status: 'succeeded' });
  const byOld = await rollOut('third', 'third-2', 0, CANARY);
  await soaks(byOld, 0);
  await stack.kill('worker', 0, 'SIGTERM');
  stack.spawn('worker', 1, {}, { root: ROOT });
  expect(await stack.operation(byOld)).toMatchObject({ status: 'succeeded' });

  // The balancer removes the old processes, then they stop.
  const results = await clients[0]!.stop();
  const inference = await load[0]!.stop();
  for (const app of ['api', 'gateway'] as const) await stack.kill(app, 0, 'SIGTERM');
  const last = await rollOut('third', 'third-3', 1, { type: 'immediate' });
  expect(await stack.operation(last, undefined, 60_000, 1)).toMatchObject({ status: 'succeeded' });
  results.push(...(await clients[1]!.stop()));
  inference.push(...(await load[1]!.stop()));

  expect(results.length).toBeGreaterThan(200);
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
  const failed = inference.filter(({ status, isCut }) => status !== 200 || isCut);
  expect(failed.length).toBe(refusedAtFirst);
  expect(inference.length).toBeGreaterThan(200);
  const { data: operations } = await stack.slipway(1).operations.list({ limit: 200 });
  expect(new Set(operations.map(({ status }) => status))).toEqual(new Set(['succeeded']));
});

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { startEmbeddedPostgres } from '@slipway/platform-database';
import pg from 'pg';

// Postgres is created, started and stopped several times.
jest.setTimeout(300_000);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-keep-'));
  // As root, the embedded Postgres runs as another user, which must be able to enter the folder.
  chmodSync(folder, 0o711);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (name: string): string => path.join(folder, name);

/** Runs what `npm run <name>` runs, without the build. */
function run(name: string, home: string, ...args: string[]): Promise<{ status: number; out: string }> {
  const file = fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
  const env = childEnvironment({
    SLIPWAY_HOME: home,
    DATABASE_URL: undefined,
    SLIPWAY_SECRET_KEY: undefined,
    NODE_ENV: undefined,
    NODE_OPTIONS: undefined,
  });
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file, ...args], { cwd: folder, env }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, out: stdout + stderr }),
    );
  });
}

async function inDatabase(home: string, statement: string): Promise<unknown[]> {
  const server = await startEmbeddedPostgres({ dir: home });
  const url = new URL(server.superuserUrl);
  url.pathname = '/slipway';
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
    await server.stop();
  }
}

it('backs up a stopped embedded installation, restores it to a new home with its key, and never changes a home with another key', async () => {
  expect(await run('migrate', pathOf('old'))).toMatchObject({ status: 0 });
  await inDatabase(pathOf('old'), `insert into tenants (id, name, is_operator) values ('ten_1', 'default', true)`);
  const backup = await run('backup', pathOf('old'), pathOf('kept'));
  expect(backup).toMatchObject({ status: 0, out: expect.stringMatching(/rows and secret-key to .*kept\n/) });

  expect(await run('restore', pathOf('new'), pathOf('kept'))).toMatchObject({
    status: 0,
    out: expect.stringContaining(`restored ${pathOf('kept')}\n`),
  });
  expect(readFileSync(pathOf('new/secret-key'))).toEqual(readFileSync(pathOf('old/secret-key')));
  expect(statSync(pathOf('new/secret-key')).mode & 0o777).toBe(0o600);
  expect(await inDatabase(pathOf('new'), 'select id from tenants')).toEqual([{ id: 'ten_1' }]);

  mkdirSync(pathOf('used'));
  writeFileSync(pathOf('used/secret-key'), 'another');
  expect(await run('restore', pathOf('used'), pathOf('kept'))).toEqual({
    status: 1,
    out: `${pathOf('used/secret-key')} differs from the file in the backup: restore into a new installation, or move this file away\n`,
  });
  expect(readdirSync(pathOf('used'))).toEqual(['secret-key']);
  expect(await run('restore', pathOf('none'), pathOf('nowhere'))).toEqual({
    status: 1,
    out: `${pathOf('nowhere')} does not contain a complete backup: backup.json is missing\n`,
  });
});

import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, statfsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const embedded = new URL('../../libs/platform/database/dist/embedded/index.js', import.meta.url);

/**
 * Each of several test processes may keep dozens of pools. A test server loses all data with its folder, so it need not
 * sync.
 */
const FLAGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=300'].flatMap(
  (setting) => ['-c', setting],
);

const PREFIX = 'slipway-test-pg-';
/** A server that has not started after this long was killed during its start. */
const STARTING_MS = 10 * 60_000;
/** Several times what all databases of a run need. */
const MEMORY_BYTES = 6 * 2 ** 30;

/**
 * Gives every test a server on which it creates databases: TEST_PG_URL if it is set (superuser), otherwise a server
 * that runs until the teardown.
 */
export default async function setUp() {
  if (process.env.TEST_PG_URL) return;
  if (!existsSync(embedded))
    throw new Error(
      'libs/platform/database is not built: run `npx nx build @slipway/platform-database` first, or set TEST_PG_URL',
    );
  const { startEmbeddedPostgres } = await import(embedded.href);
  const folder = folderForDatabases();
  removeAbandoned(folder);
  const dir = mkdtempSync(path.join(folder, PREFIX));
  // As root, another OS user runs the server, and must be able to enter the folder.
  await chmod(dir, 0o711);
  const server = await startEmbeddedPostgres({ dir, flags: FLAGS, application: false });
  process.env.TEST_PG_URL = server.superuserUrl;
  globalThis.slipwayTestPostgres = { server, dir };
}

/** A folder in memory if there is enough, because every suite copies a database of 700 files. */
function folderForDatabases() {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return os.tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > MEMORY_BYTES ? memory : os.tmpdir();
}

/** Removes the data of a killed run: its server has ended, and the data would use memory until the machine restarts. */
function removeAbandoned(folder) {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(PREFIX))) {
    const dir = path.join(folder, name);
    try {
      if (!isInUse(dir)) rmSync(dir, { recursive: true, force: true });
    } catch {
      // Another run is removing it, or another user owns it.
    }
  }
}

function isInUse(dir) {
  const file = path.join(dir, 'postgres/data/postmaster.pid');
  if (!existsSync(file)) return Date.now() - statSync(dir).mtimeMs < STARTING_MS;
  try {
    process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, statfsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const embedded = new URL('../../libs/platform/database/dist/embedded/index.js', import.meta.url);

/** Each of several test processes may hold dozens of pools. A test server loses everything with its folder, so it need not sync. */
const FLAGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=300'].flatMap(
  (setting) => ['-c', setting],
);

const PREFIX = 'slipway-test-pg-';
/** A server that has not started after this long was killed on its way. */
const STARTING_MS = 10 * 60_000;
/** What all databases of a run need, several times over. */
const MEMORY_BYTES = 6 * 2 ** 30;

/** Gives every test a server to make databases on: TEST_PG_URL where it is set (superuser), else one of our own until the teardown. */
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
  // Root lets another OS user run the server, who must get through.
  await chmod(dir, 0o711);
  const server = await startEmbeddedPostgres({ dir, flags: FLAGS, application: false });
  process.env.TEST_PG_URL = server.superuserUrl;
  globalThis.slipwayTestPostgres = { server, dir };
}

/** Memory where there is plenty: every suite copies a database of 700 files. */
function folderForDatabases() {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return os.tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > MEMORY_BYTES ? memory : os.tmpdir();
}

/** What a killed run left: its server died with it, and its data would take memory until the machine restarts. */
function removeAbandoned(folder) {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(PREFIX))) {
    const dir = path.join(folder, name);
    try {
      if (!isInUse(dir)) rmSync(dir, { recursive: true, force: true });
    } catch {
      // Another run removes it, or another user owns it.
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

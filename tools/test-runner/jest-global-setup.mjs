import { existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const embedded = new URL('../../libs/platform/database/dist/embedded/index.js', import.meta.url);

/** Each of several test processes may hold dozens of pools. A test server loses everything with its folder, so it need not sync. */
const FLAGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=300'].flatMap(
  (setting) => ['-c', setting],
);

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
  const dir = mkdtempSync(path.join(folderForDatabases(), 'slipway-test-pg-'));
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

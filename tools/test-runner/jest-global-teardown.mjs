import { rm } from 'node:fs/promises';

export default async function tearDown() {
  const own = globalThis.slipwayTestPostgres;
  if (!own) return;
  await own.server.stop();
  await rm(own.dir, { recursive: true, force: true });
  delete process.env.TEST_PG_URL;
  delete globalThis.slipwayTestPostgres;
}

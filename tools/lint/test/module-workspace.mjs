import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/**
 * The registry and the migrations of a small workspace, in which the library `market` contains several area modules.
 */
const FILES = {
  'libs/registry/src/areas.ts': `
    export * as streets from '@slipway/area-streets';
    export * as prices from '@slipway/area-market/prices';
    export * as orders from '@slipway/area-market/orders';
    export * as parades from '@slipway/area-parades';`,
  'libs/areas/streets/src/migrations/1-streets.ts': 'create table streets (id text)',
  'libs/areas/market/src/migrations/2-currencies.ts': 'create table currencies (id text)',
  'libs/areas/market/src/prices/migrations/3-prices.ts': 'create table prices (id text)',
  'libs/areas/market/src/orders/migrations/4-orders.ts': 'create table orders (id text)',
  'libs/platform/journal/src/entries/migrations/5-entries.ts': 'create table journal_entries (id text)',
};

/** Calls `use` with the folder of that workspace, and with the paths that fixtures declare in it. */
export async function withModuleWorkspace(use) {
  const root = await mkdtemp(path.join(os.tmpdir(), 'slipway-lint-'));
  try {
    for (const [file, text] of Object.entries(FILES)) {
      await mkdir(path.dirname(path.join(root, file)), { recursive: true });
      await writeFile(path.join(root, file), text);
    }
    return await use(root, ['libs/areas/{market,parades,streets}/**', 'libs/ports/src/{orders,prices}.port.ts']);
  } finally {
    await rm(root, { recursive: true });
  }
}

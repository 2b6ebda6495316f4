import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { copyOf, type TestDatabase } from '@slipway/platform-database/testing';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** Cached, because nothing is built while a suite runs. */
let built: string | undefined;

/**
 * Migrated by the product's own command: this file does not load the product,
 * which in Jest takes longer than many a suite.
 */
export function productDatabase(): Promise<TestDatabase> {
  return copyOf({
    key: (built ??= builtMigrations()),
    async fill({ ownerUrl, url, gatewayUrl }) {
      await promisify(execFile)(process.execPath, [path.join(ROOT, 'apps/api/dist/migrate.js')], {
        cwd: tmpdir(),
        env: {
          DATABASE_URL: url,
          SLIPWAY_MIGRATE_DATABASE_URL: ownerUrl,
          SLIPWAY_GATEWAY_DATABASE_URL: gatewayUrl,
          SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
        },
      });
    },
  });
}

/** Identifies the built schema without loading it: the server of TEST_PG_URL may have the schema of an older build. */
function builtMigrations(): string {
  const hash = createHash('sha256');
  const folder = path.join(ROOT, 'libs');
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (/dist\/migrations\/[^/]+\.js$/.test(file)) {
      const { size, mtimeMs } = statSync(path.join(folder, file));
      hash.update(`${file} ${size} ${mtimeMs}\n`);
    }
  return `built_${hash.digest('hex').slice(0, 16)}`;
}

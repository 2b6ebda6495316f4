import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PROCESSES, VARIABLES, type ProcessName } from '@slipway/platform-config';
import { SourceTree } from '../test/source-closure.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

const ENTRIES: Record<ProcessName, string[]> = {
  api: ['apps/api/src/main.ts'],
  worker: ['apps/worker/src/main.ts'],
  gateway: ['apps/gateway/src/main.ts'],
  migrate: ['apps/api/src/migrate.ts'],
  tools: ['backup', 'restore', 'rotate-secret-key', 'audit-verify'].map((name) => `apps/api/src/${name}.ts`),
};

/** How code reads the value of a variable from the configuration. The other variables are read by each process. */
const READS: Record<string, RegExp> = {
  QUEUE_BACKEND: /\bqueue\.backend\b/,
  REDIS_URL: /\bredisUrl\b/,
  SLIPWAY_API_PORT: /\bapiPort\b/,
  SLIPWAY_AUDIT_ANCHOR: /\baudit\.anchor\b/,
  SLIPWAY_BOOTSTRAP_TOKEN: /\bbootstrapToken\b/,
  SLIPWAY_CONSOLE: /\bconsole\.isOn\b/,
  SLIPWAY_CONSOLE_FILES: /\bconsole: \{ files \}/,
  SLIPWAY_CONSOLE_GATEWAY_URL: /\bconsole\.gatewayUrl\b/,
  SLIPWAY_GATEWAY_CORS_ORIGINS: /\bcorsOrigins\b/,
  SLIPWAY_GATEWAY_DRAIN_SECONDS: /\bdrainSeconds\b/,
  SLIPWAY_GATEWAY_HOLD_MAX_BYTES: /\bhold\b.*= config\.gateway|\bhold\.maxBytes\b/,
  SLIPWAY_GATEWAY_HOLD_MAX_REQUESTS: /\bhold\b.*= config\.gateway|\bhold\.maxRequests\b/,
  SLIPWAY_GATEWAY_MAX_BODY_BYTES: /\blimits\.maxBodyBytes\b|\blimits\b.*= config\.gateway/,
  SLIPWAY_GATEWAY_PASSED_HEADERS: /\bpassedHeaders\b/,
  SLIPWAY_GATEWAY_PUBLIC_URL: /\bgateway\.publicUrl\b/,
  SLIPWAY_IDENTITY_AUDIENCE: /\bidentity\.audience\b|\baudience\b.*= config\.identity/,
  SLIPWAY_IDENTITY_CLIENT_ID: /\bidentity\.clientId\b/,
  SLIPWAY_IDENTITY_CLIENT_SECRET: /\bclientSecret\b/,
  SLIPWAY_IDENTITY_ISSUER: /\bidentity\.issuer\b|\bissuer\b.*\.identity\b/,
  SLIPWAY_IDENTITY_JWKS_URL: /\bjwksUrl\b/,
  SLIPWAY_IDENTITY_PROVIDER: /\bidentity\.provider\b/,
  SLIPWAY_MIGRATE_DATABASE_URL: /\bdatabase\.migrateUrl\b|\bmigrateUrl\b.*= config\.database/,
  SLIPWAY_PUBLIC_URL: /\bconsole: \{ publicUrl \}|\bconsole\.publicUrl\b/,
  SLIPWAY_S3_ENDPOINT: /\bupload\.s3\b|\bs3 \} = upload\b/,
  SLIPWAY_S3_REGION: /\bupload\.s3\b|\bs3 \} = upload\b/,
  SLIPWAY_TRUSTED_PROXIES: /\btrustedProxies\b/,
  SLIPWAY_UPLOAD_MAX_BYTES: /\bupload\.maxBytes\b/,
  SLIPWAY_WORKER_CONCURRENCY: /\bworker\.concurrency\b/,
  SLIPWAY_WORKSPACE_STORE: /\bworkspaceStore\b/,
};

const sources = new SourceTree(ROOT);
const closures = new Map(PROCESSES.map((process) => [process, sources.closureOf(ENTRIES[process])]));
const rowOf = (name: string): readonly ProcessName[] => VARIABLES.find((one) => one.name === name)?.processes ?? [];

function filesThatRead(process: ProcessName, pattern: RegExp): string[] {
  return closures
    .get(process)!
    .filter((file) => !file.startsWith('libs/platform/config/'))
    .filter((file) => pattern.test(sources.textOf(file)));
}

it('follows the imports of a process', () => {
  expect(closures.get('gateway')).toContain('libs/gateway/src/index.ts');
  expect(closures.get('api')!.length).toBeGreaterThan(200);
  for (const files of closures.values()) expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

describe.each(Object.entries(READS))('%s', (name, pattern) => {
  it('is a variable that some process of its row really reads', () => {
    const readers = rowOf(name).filter((process) => filesThatRead(process, pattern).length > 0);
    expect(readers).not.toEqual([]);
  });

  it('is read by no code of a gateway or a migration that does not have it', () => {
    // Api and worker run the same areas, so their code says nothing about which of them reads a value. The suites run
    // both with their own variables only.
    for (const process of ['gateway', 'migrate'] as const)
      if (!rowOf(name).includes(process))
        expect([process, filesThatRead(process, pattern).filter((file) => runs(process, file))]).toEqual([process, []]);
  });

  it('is in the row of the gateway only if code of the gateway reads it', () => {
    if (rowOf(name).includes('gateway')) expect(filesThatRead('gateway', pattern)).not.toEqual([]);
  });
});

/** The migration imports the areas for their migrations, and runs nothing else of them. */
const runs = (process: ProcessName, file: string): boolean =>
  process !== 'migrate' || ENTRIES.migrate.includes(file) || file.startsWith('libs/platform/database/src/migrat');

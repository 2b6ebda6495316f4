// Fetches two generators of clients, once per machine, and prints their folder: node tools/client-generators/build.mjs
// The folder has `oapi-codegen`, compiled by Go, and `openapi-generator-cli.jar`, from Maven Central. It is kept in the
// user's cache folder, by version. Exit status 3: a program is missing; stderr names it. Any other status except 0 is a
// failure.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runStep } from '../build-progress.mjs';

const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const OPENAPI_GENERATOR = 'org.openapitools:openapi-generator-cli:7.17.0';
const SHA256 = '25d6bd8273dd2be99979d544b62ea43f0ce1975f1aa582678b5093d1e7fcfce8';
const TIMEOUT_MS = 600_000;
const MISSING = 3;

const key = createHash('sha256').update(JSON.stringify([OAPI_CODEGEN, OPENAPI_GENERATOR, process.platform]));
const cache = path.join(
  process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'),
  'slipway',
  'client-generators',
);
const folder = path.join(cache, key.digest('hex').slice(0, 16));

if (!existsSync(folder)) {
  for (const [program, ask] of [
    ['go', ['version']],
    ['java', ['-version']],
    ['mvn', ['--version']],
  ])
    if ((await step(`checking ${program}`, program, ask)).status !== 0) giveUp(MISSING, `${program} is missing`);
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(path.join(cache, 'fetching-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  await mustRun('compiling oapi-codegen', 'go', ['install', OAPI_CODEGEN], { GOBIN: scratch, GOFLAGS: '' });
  await mustRun('fetching openapi-generator', 'mvn', [
    '--batch-mode',
    '--quiet',
    'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy',
    `-Dartifact=${OPENAPI_GENERATOR}`,
    `-DoutputDirectory=${scratch}`,
    '-Dmdep.stripVersion=true',
  ]);
  const digest = createHash('sha256')
    .update(readFileSync(path.join(scratch, 'openapi-generator-cli.jar')))
    .digest('hex');
  if (digest !== SHA256) giveUp(1, `${OPENAPI_GENERATOR} has the SHA-256 ${digest} instead of ${SHA256}`);
  // A single rename, because another run may fetch the same or check for it.
  if (!existsSync(folder)) renameSync(scratch, folder);
}
process.stdout.write(`${folder}\n`);

async function mustRun(title, command, args, env = {}) {
  const { status, output } = await step(title, command, args, env);
  if (status === 0) return;
  process.stderr.write(output.slice(-20_000));
  giveUp(1, `${command} failed: exit status ${status}`);
}

async function step(title, command, args, env = {}) {
  try {
    return await runStep(title, command, args, { timeoutMs: TIMEOUT_MS, env: { ...process.env, ...env } });
  } catch (error) {
    return { status: null, output: error.message };
  }
}

function giveUp(status, reason) {
  process.stderr.write(`The generators of clients are not available: ${reason}.\n`);
  process.exit(status);
}

import { execFileSync, fork, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { errorPageOf } from '../libs/sdk/dist/error-page.js';
import { textOf } from '../libs/sdk/dist/compatibility/document.js';
import setUp from '../tools/test-runner/jest-global-setup.mjs';
import tearDown from '../tools/test-runner/jest-global-teardown.mjs';

// Writes the OpenAPI document that a real api process serves, in its committed form, and lints it:
//   node .ci/openapi.mjs <file> [page]
// The page lists the error codes of the document. `npm run openapi` updates libs/sdk/openapi.json and docs/errors.md.
const root = path.resolve(import.meta.dirname, '..');
const file = path.resolve(process.argv[2] ?? 'openapi.json');
const main = (name) => path.join(root, 'apps/api/dist', name);

await setUp();
const home = await mkdtemp(path.join(os.tmpdir(), 'slipway-openapi-'));
let api;
try {
  const database = await makeDatabase();
  const port = execFileSync(process.execPath, [path.join(import.meta.dirname, 'free-ports.mjs'), '1'], {
    encoding: 'utf8',
  }).trim();
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'test',
    DATABASE_URL: database,
    SLIPWAY_HOME: home,
    SLIPWAY_SECRET_KEY: randomBytes(32).toString('base64'),
    SLIPWAY_API_PORT: port,
    SLIPWAY_LOG_LEVEL: 'warn',
  };
  execFileSync(process.execPath, [main('migrate.js')], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  api = fork(main('main.js'), { env });
  await new Promise((resolve, reject) => {
    api.once('message', resolve);
    api.once('exit', (code) => reject(new Error(`the api exited with ${code}`)));
  });
  const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const document = await answer.json();
  await writeFile(file, textOf(document));
  if (process.argv[3]) await writeFile(process.argv[3], errorPageOf(document));
  const redocly = path.join(root, 'node_modules/@redocly/cli/bin/cli.js');
  process.exitCode =
    spawnSync(process.execPath, [redocly, 'lint', file], { cwd: path.dirname(file), stdio: 'inherit' }).status ?? 1;
} finally {
  if (api?.exitCode === null) {
    const ended = new Promise((resolve) => api.once('exit', resolve));
    api.kill('SIGTERM');
    await ended;
  }
  await tearDown();
  await rm(home, { recursive: true });
}

async function makeDatabase() {
  const { default: pg } = await import('pg');
  const name = `openapi_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: process.env.TEST_PG_URL });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(process.env.TEST_PG_URL);
  url.pathname = `/${name}`;
  return url.toString();
}

/**
 * Measures how long api and worker take to start: bundled as in the images, and as `npm run build` compiles them. Run
 * `npm run build` first.
 *
 *   node tools/images/start-times.mjs [runs]
 *
 * Prints the median of each (10 runs by default) and their ratio. The runs take turns, on one migrated database, and a
 * start ends when the process reports that it is ready. Exits with 1 if a ratio is above 0.7.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../libs/platform/database/dist/embedded/index.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const APPS = ['api', 'worker'];
const LARGEST_RATIO = 0.7;
const runs = Number(process.argv[2] ?? 10);

/** @returns the milliseconds until the process is ready */
async function startTime(folder, app, env) {
  const started = performance.now();
  const main = path.join(folder, `apps/${app}/dist/main.js`);
  const child = spawn(process.execPath, [main], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let log = '';
  child.stderr.on('data', (chunk) => (log += chunk));
  const exit = once(child, 'exit');
  const isReady = await Promise.race([once(child, 'message').then(() => true), exit.then(() => false)]);
  const time = performance.now() - started;
  if (!isReady) throw new Error(`${app} in ${folder} did not start: ${log}`);
  child.kill('SIGTERM');
  await exit;
  return time;
}

function median(times) {
  const sorted = [...times].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 0 ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)];
}

function environment(scratch, database) {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    DATABASE_URL: database.appUrl,
    SLIPWAY_MIGRATE_DATABASE_URL: database.ownerUrl,
    SLIPWAY_GATEWAY_DATABASE_URL: database.gatewayUrl,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    SLIPWAY_HOME: path.join(scratch, 'home'),
    SLIPWAY_API_PORT: '0',
    SLIPWAY_METRICS_PORT: '0',
    SLIPWAY_LOG_LEVEL: 'warn',
    QUEUE_BACKEND: 'postgres',
  };
}

async function measure(scratch, env) {
  for (const app of APPS) {
    const [compiled, bundled] = [ROOT, path.join(scratch, app)].map((folder) => ({ folder, times: [] }));
    for (let run = 0; run < runs; run += 1)
      for (const { folder, times } of run % 2 === 0 ? [compiled, bundled] : [bundled, compiled])
        times.push(await startTime(folder, app, env));
    report(app, median(compiled.times), median(bundled.times));
  }
}

function report(app, compiled, bundled) {
  const ratio = bundled / compiled;
  console.log(
    `${app}: ${compiled.toFixed(0)} ms compiled, ${bundled.toFixed(0)} ms bundled, ratio ${ratio.toFixed(2)}`,
  );
  if (ratio > LARGEST_RATIO) process.exitCode = 1;
}

const scratch = mkdtempSync(path.join(tmpdir(), 'slipway-starts-'));
// As root, Postgres runs as another user, who must be able to enter.
chmodSync(scratch, 0o711);
let database;
try {
  execFileSync(process.execPath, [path.join(ROOT, 'tools/bundle/main.mjs'), scratch, ...APPS], { stdio: 'inherit' });
  database = await startEmbeddedPostgres({ dir: path.join(scratch, 'database') });
  const env = environment(scratch, database);
  execFileSync(process.execPath, [path.join(ROOT, 'apps/api/dist/migrate.js')], { env, stdio: 'pipe' });
  await measure(scratch, env);
} finally {
  await database?.stop();
  rmSync(scratch, { recursive: true, force: true });
}

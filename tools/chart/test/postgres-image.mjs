// Runs in place of the image of Postgres on a node of the test bed, with the variables and the script of the chart:
// node postgres-image.mjs <folder> [-c <script>] --host <pod's address>
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@slipway/platform-database';
import { addressOf } from './service-names.mjs';

const [folder, ...given] = process.argv.slice(2);
const host = given.at(-1);
const root = path.resolve(import.meta.dirname, '../../..');
const { PATH, POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD, SLIPWAY_APP_PASSWORD, DATABASE_URL } = process.env;

if (given[0] === '-c') await runShell(given[1]);
else await serve();

/** psql finds only names that the machine knows. */
async function runShell(script) {
  const url = new URL(DATABASE_URL);
  for (;;) {
    const address = addressOf(folder, url.hostname);
    if (address !== undefined) {
      url.hostname = address;
      break;
    }
    await delay(200);
  }
  const { status } = spawnSync('sh', ['-c', script], { env: { PATH, DATABASE_URL: url.href }, stdio: 'inherit' });
  process.exit(status ?? 1);
}

async function serve() {
  // The volume of the pod: it stays when the pod moves.
  const dir = path.join(folder, 'postgres');
  const server = await startEmbeddedPostgres({ dir, superuser: POSTGRES_USER, application: false });
  if (!existsSync(path.join(dir, 'initialized'))) {
    psql(server.superuserUrl, { PASSWORD: POSTGRES_PASSWORD }, [
      '\\getenv password PASSWORD',
      `create database "${POSTGRES_DB}";`,
      `alter role "${POSTGRES_USER}" password :'password';`,
    ]);
    const script = path.join(root, 'deploy/helm/slipway/files/postgres-init.sh');
    const access = { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGPASSWORD: POSTGRES_PASSWORD };
    const env = { PATH, POSTGRES_USER, POSTGRES_DB, SLIPWAY_APP_PASSWORD, ...access };
    check(spawnSync('bash', [script], { env, encoding: 'utf8' }));
    writeFileSync(path.join(dir, 'initialized'), '');
  }
  const forward = net.createServer((client) => {
    const upstream = net.connect(server.port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ])
      from.pipe(to).on('error', () => from.destroy());
  });
  forward.listen(5432, host);
  process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
}

function psql(url, env, statements) {
  const input = statements.join('\n');
  check(spawnSync('psql', ['-X', '-v', 'ON_ERROR_STOP=1', url], { env: { PATH, ...env }, input, encoding: 'utf8' }));
}

function check({ status, stderr, error }) {
  if (status !== 0) throw error ?? new Error(stderr);
}

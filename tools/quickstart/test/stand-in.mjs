import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

// Plays api, worker, gateway or the migration, by the name of the copy that runs.
const name = path.basename(process.argv[1], '.mjs');
const note = (what) => appendFileSync(path.join(process.env.STAND_IN_FOLDER, 'notes'), `${name} ${what}\n`);

const [who, code] = (process.env.STAND_IN_EXIT ?? '').split(' ');
if (who === name) process.exit(Number(code));

if (name === 'migrate') {
  note(`owner ${new URL(process.env.SLIPWAY_MIGRATE_DATABASE_URL).username}`);
  process.exit(0);
}

note(`pid ${process.pid}`);
note(`token ${process.env.SLIPWAY_BOOTSTRAP_TOKEN ?? 'none'}`);
if (!existsSync(path.join(process.env.SLIPWAY_HOME, 'run', 'stack.json'))) throw new Error('no stack file');
process.on('message', (message) => note(`message ${message}`));
process.on('SIGTERM', () => {
  note('signal SIGTERM');
  process.exit(0);
});
process.on('disconnect', () => process.exit(0));

const port = { api: process.env.SLIPWAY_API_PORT, gateway: process.env.SLIPWAY_GATEWAY_PORT }[name];
if (port)
  await new Promise((resolve) =>
    createServer((_, response) => response.end('{}')).listen(Number(port), '127.0.0.1', resolve),
  );
process.send('slipway:ready');

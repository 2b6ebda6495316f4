import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

// Replaces api, worker, gateway or the migration, depending on the name of the running copy.
const name = path.basename(process.argv[1], '.mjs');
const note = (what) => appendFileSync(path.join(process.env.STAND_IN_FOLDER, 'notes'), `${name} ${what}\n`);

const noteVariables = () => note(`variables ${Object.keys(process.env).sort().join(' ')}`);

const [who, code] = (process.env.STAND_IN_EXIT ?? '').split(' ');
if (who === name) {
  process.stderr.write(`Slipway ${name} cannot start: SLIPWAY_X: it is wrong.\n`);
  process.exit(Number(code));
}

if (name === 'migrate') {
  note(`owner ${new URL(process.env.SLIPWAY_MIGRATE_DATABASE_URL).username}`);
  noteVariables();
  process.exit(0);
}

note(`pid ${process.pid}`);
note(`ports ${process.env.SLIPWAY_METRICS_PORT} ${process.env.SLIPWAY_OWN_PORTS}`);
note(`drain ${process.env.SLIPWAY_GATEWAY_DRAIN_SECONDS}`);
note(`token ${process.env.SLIPWAY_BOOTSTRAP_TOKEN ?? 'none'}`);
note(`login ${process.env.DATABASE_URL ? new URL(process.env.DATABASE_URL).username : 'none'}`);
noteVariables();
// The stack file contains the address of the embedded Postgres; an external one is in the environment.
if (!process.env.DATABASE_URL && !existsSync(path.join(process.env.SLIPWAY_HOME, 'run', 'stack.json')))
  throw new Error('no stack file');
process.on('message', (message) => note(`message ${message}`));
process.on('SIGHUP', () => note('signal SIGHUP'));
process.on('SIGUSR2', () => process.exit(78));
process.on('SIGTERM', () => {
  note('signal SIGTERM');
  process.exit(0);
});
process.on('disconnect', () => process.exit(0));

const port = { api: process.env.SLIPWAY_API_PORT, gateway: process.env.SLIPWAY_GATEWAY_PORT }[name];
if (port) await new Promise((resolve) => createServer(answer).listen(Number(port), '127.0.0.1', resolve));
process.send('slipway:ready');

/** The answers of an api that the demonstration needs, until SPOILED makes a step fail. */
function answer(request, response) {
  const spoiled = process.env.STAND_IN_SPOILED;
  const asked = `${request.method} ${request.url?.replace(/quickstart-\w+/, 'it').split('?')[0]}`;
  const send = (status, body) => response.writeHead(status).end(JSON.stringify(body));
  const operation = { id: 'op_1', kind: 'rollout', current_step: 'await_ready', message: '', steps: [] };
  if (asked === 'POST /v1/chat/completions') return process.exit(1);
  if (asked === 'POST /api/v1/deployments/it/rollouts' && spoiled === 'engine')
    return send(422, {
      error: {
        code: 'validation_failed',
        message: 'The request is well-formed but breaks a rule.',
        remediation: 'Correct the fields named in details.',
        details: [{ field: 'spec.runtime.engine', code: 'unknown', message: 'target "local" has the engines: other' }],
      },
    });
  if (asked === 'POST /api/v1/deployments/it/rollouts')
    return send(202, { operation: { ...operation, status: 'running', progress: 0 } });
  if (asked === 'GET /api/v1/operations/op_1')
    return send(200, {
      ...operation,
      progress: 100,
      completed_at: '2026-01-01T00:00:00.000Z',
      ...(spoiled === 'operation'
        ? { status: 'failed', error_code: 'instance_not_ready', message: 'the model server ended with 1' }
        : { status: 'succeeded' }),
    });
  if (asked === 'GET /api/v1/deployments/it') return send(200, { candidate_revision: 'it-00001' });
  send(200, { data: [] });
}

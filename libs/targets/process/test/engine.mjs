// A server that tells how it was started, for the driver's tests. One line per start goes to --log.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    model: { type: 'string' },
    log: { type: 'string' },
    'healthy-file': { type: 'string' },
    'ignore-term': { type: 'boolean' },
    'exit-code': { type: 'string' },
    'with-child': { type: 'boolean' },
    chatter: { type: 'string' },
  },
});
const child = values['with-child']
  ? spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  : undefined;
appendFileSync(
  values.log,
  `${JSON.stringify({
    instance: process.env.SLIPWAY_INSTANCE_ID,
    generation: Number(process.env.SLIPWAY_INSTANCE_GENERATION),
    pid: process.pid,
    child: child?.pid,
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
  })}\n`,
);
if (values['exit-code']) process.exit(Number(values['exit-code']));
if (values['ignore-term']) process.on('SIGTERM', () => console.log('not now'));
if (values.chatter) console.log('x'.repeat(Number(values.chatter)));
createServer((_request, response) => {
  response.statusCode = existsSync(values['healthy-file']) ? 200 : 503;
  response.end('{}');
}).listen(Number(values.port), '127.0.0.1');

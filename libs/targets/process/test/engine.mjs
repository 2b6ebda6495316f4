// A server for the driver's tests that records how it was started, with one line per start in the file of --log.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, writeSync } from 'node:fs';
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
    // `session`: in sessions of their own; `group`: in the engine's; `wiped`: with the environment that setproctitle
    // leaves; `hidden`: without any environment.
    children: { type: 'string' },
    says: { type: 'string' },
    'note-signals': { type: 'boolean' },
    status: { type: 'string' },
    'metrics-port': { type: 'string' },
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
if (values.children) {
  const child = [
    process.execPath,
    'test/child.mjs',
    `${values.log}.children`,
    values.children === 'session' ? '1' : '0',
  ];
  const wiping = ['/bin/sh', '-c', '[ -n "$SPT_NOENV" ] || exec env -i "$@"; exec "$@"', 'sh'];
  const [program, ...args] =
    { wiped: [...wiping, ...child], hidden: ['env', '-i', ...child] }[values.children] ?? child;
  spawn(program, args, { stdio: 'ignore', detached: values.children !== 'group' });
}
if (values['note-signals'])
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      appendFileSync(`${values.log}.signals`, `${signal}\n`);
      process.exit(0);
    });
if (values.says) writeSync(2, values.says.replaceAll('\\n', '\n'));
if (values['exit-code']) process.exit(Number(values['exit-code']));
if (values['ignore-term']) process.on('SIGTERM', () => console.log('not now'));
if (values.chatter) console.log('x'.repeat(Number(values.chatter)));
createServer((request, response) => {
  const isHealthy = existsSync(values['healthy-file']);
  response.statusCode = request.url !== '/health' ? 404 : isHealthy ? 200 : Number(values.status ?? 503);
  response.end('{}');
}).listen(Number(values.port), '127.0.0.1');
if (values['metrics-port'])
  createServer((request, response) => {
    response.statusCode = request.headers.authorization === `Bearer ${process.env.ENGINE_KEY}` ? 200 : 401;
    response.end('w 3\n');
  }).listen(Number(values['metrics-port']), '127.0.0.1');

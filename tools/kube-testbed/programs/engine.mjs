// Programs in the images of the bed, except the simulator: node engine.mjs <part> [--flag value | --flag=value]...
// A part that serves listens on --host and --port and answers /health.
import { appendFileSync, existsSync } from 'node:fs';
import http from 'node:http';

const [part, ...argv] = process.argv.slice(2);
const flags = new Map();
for (let at = 0; at < argv.length; at += 1) {
  const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(argv[at]) ?? [];
  if (name === undefined) continue;
  flags.set(name, value ?? (argv[at + 1]?.startsWith('--') ? '' : (argv[++at] ?? '')));
}

const PARTS = {
  /** Answers every path except /health with its own arguments and environment. */
  echo: () => serve(() => true),
  /** Healthy while the file of --healthy-file exists. */
  steered: () => serve(() => existsSync(flags.get('healthy-file') ?? '')),
  /** Ignores SIGTERM. */
  stubborn: () => {
    process.on('SIGTERM', () => console.log('SIGTERM: I stay'));
    serve(() => true);
  },
  crash: () => {
    console.log('loading');
    console.error('cannot load the model: bad magic');
    process.exit(3);
  },
  oom: () => {
    console.log('loading 48 GiB of weights');
    process.kill(process.pid, 'SIGKILL');
  },
  /** Ends successfully, as an init container does. */
  done: () => console.log('done'),
  /** Writes --lines lines, and then --per-second lines each second. */
  talk: () => {
    for (let line = 1; line <= Number(flags.get('lines') ?? 0); line += 1) console.log(`line ${line}`);
    const perSecond = Number(flags.get('per-second') ?? 0);
    let line = 0;
    if (perSecond > 0) setInterval(() => console.log(`more ${(line += 1)} ${'x'.repeat(80)}`), 1_000 / perSecond);
    serve(() => true);
  },
};

if (flags.has('start-log'))
  appendFileSync(flags.get('start-log'), `${JSON.stringify({ pid: process.pid, at: new Date().toISOString() })}\n`);
if (!PARTS[part]) throw new Error(`no such part: ${part}`);
PARTS[part]();

function serve(isHealthy) {
  const server = http.createServer((asked, answer) => {
    const isHealth = asked.url === '/health';
    const status = isHealth && !isHealthy() ? 503 : 200;
    const body = isHealth
      ? { status }
      : { choices: [], argv: process.argv.slice(2), env: process.env, pid: process.pid };
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(Number(flags.get('port') ?? 8000), flags.get('host') ?? '127.0.0.1', () => console.log('listening'));
  if (process.listenerCount('SIGTERM') === 0) process.on('SIGTERM', () => process.exit(0));
}

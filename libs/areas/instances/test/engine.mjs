// A miniature model server for the tests of this area. It writes its start to --start-log. It is unhealthy while
// --ill-file exists, and then logs each request there. On --metrics-port it returns the text of --metrics-file to
// clients with its key; "endless" never ends.
import { appendFileSync, constants, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    model: { type: 'string' },
    'start-log': { type: 'string' },
    'ill-file': { type: 'string' },
    'exit-code': { type: 'string' },
    devices: { type: 'string' },
    'ready-file': { type: 'string' },
    'metrics-port': { type: 'string' },
    'metrics-file': { type: 'string' },
  },
});
appendFileSync(
  values['start-log'],
  `${JSON.stringify({
    instance: process.env.SLIPWAY_INSTANCE_ID,
    generation: Number(process.env.SLIPWAY_INSTANCE_GENERATION),
    pid: process.pid,
    model: values.model,
    key: process.env.API_KEY,
    devices: values.devices,
  })}\n`,
);
if (values['exit-code']) console.error('mini: the model is broken');
if (values['exit-code']) process.exit(Number(values['exit-code']));
/** Enough for every kind of request. */
const ANSWER = '{"choices":[]}';

/** Logs a request in the file, which only a test creates and removes. */
function isIll() {
  try {
    appendFileSync(values['ill-file'], '.', { flag: constants.O_WRONLY | constants.O_APPEND });
    return true;
  } catch {
    return false;
  }
}
createServer((_request, response) => {
  const isLoading = values['ready-file'] && !existsSync(values['ready-file']);
  response.statusCode = isIll() || isLoading ? 503 : 200;
  response.end(ANSWER);
}).listen(Number(values.port), '127.0.0.1');
if (values['metrics-port'])
  createServer((request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${process.env.ENGINE_KEY}`;
    const text = readFileSync(values['metrics-file'], 'utf8');
    if (!isKnown) response.statusCode = 401;
    if (!isKnown || text !== 'endless') return void response.end(text);
    const more = () => {
      while (!response.destroyed && response.write('w 1\n'.repeat(10_000)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  }).listen(Number(values['metrics-port']), '127.0.0.1');

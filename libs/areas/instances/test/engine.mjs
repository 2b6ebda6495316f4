// A model server in miniature for the tests of this area. Says in --start-log that it was started; ill while --ill-file exists,
// and then notes there each time it is asked. On --metrics-port it tells what stands in --metrics-file to who has its key; "endless" without end.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
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
createServer((_request, response) => {
  const isIll = existsSync(values['ill-file']) || (values['ready-file'] && !existsSync(values['ready-file']));
  if (existsSync(values['ill-file'])) appendFileSync(values['ill-file'], '.');
  response.statusCode = isIll ? 503 : 200;
  response.end('{}');
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

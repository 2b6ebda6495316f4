// A model server in miniature for the tests of this area. Says in --start-log that it was started; ill while --ill-file exists,
// and then notes there each time it is asked.
import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    model: { type: 'string' },
    'start-log': { type: 'string' },
    'ill-file': { type: 'string' },
    'exit-code': { type: 'string' },
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
  })}\n`,
);
if (values['exit-code']) process.exit(Number(values['exit-code']));
createServer((_request, response) => {
  const isIll = existsSync(values['ill-file']);
  if (isIll) appendFileSync(values['ill-file'], '.');
  response.statusCode = isIll ? 503 : 200;
  response.end('{}');
}).listen(Number(values.port), '127.0.0.1');

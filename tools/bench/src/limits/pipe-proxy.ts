import { Agent, createServer, request as send } from 'node:http';
import { listen } from './listen.js';

// The minimal proxy in Node: no token, no route, no counting; headers and bytes are passed unchanged.
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const target = new URL(process.argv[2] as string);
const server = createServer((request, response) => {
  const onward = send(
    {
      agent,
      host: target.hostname,
      port: target.port,
      method: request.method,
      path: request.url,
      headers: request.headers,
    },
    (answer) => {
      response.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});
listen(server);

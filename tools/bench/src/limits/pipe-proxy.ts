import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

// The least a proxy in Node can be: no token, no route, no counting; headers and bytes go through as they come.
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
// Connections of the load wait while others take their turn.
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

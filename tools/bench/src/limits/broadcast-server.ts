import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.js';

// The minimal broadcast: GET opens a stream, POST /<text> writes one event to all of them.
const open = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.method === 'POST') {
    for (const watcher of open) watcher.write(`id: 1\ndata: ${request.url}\n\n`);
    return void response.end();
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  open.add(response);
  response.on('close', () => open.delete(response));
});
listen(server, 1024);

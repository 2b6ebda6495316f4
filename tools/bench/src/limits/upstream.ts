import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.js';

// A model server that answers at once: one JSON completion, or 100 chunks of server-sent events, with one write each.
const CHUNKS = 100;
const completion = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(50) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 50, total_tokens: 55 },
});
const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const word = event({ content: 'word ' }, null);
const last = `${event({}, 'stop')}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end('{"status":"ok"}');
  const body: Buffer[] = [];
  request.on('data', (chunk: Buffer) => body.push(chunk));
  request.on('end', () => {
    if (Buffer.concat(body).includes('"stream":true')) return stream(response, 0);
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': completion.length })
      .end(completion);
  });
});
listen(server);

function stream(response: ServerResponse, sent: number): void {
  if (sent === 0) response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (sent === CHUNKS) return void response.end(last);
  response.write(word);
  // Each chunk has its own turn of the event loop, as in a model server.
  setImmediate(stream, response, sent + 1);
}

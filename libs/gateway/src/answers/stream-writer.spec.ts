import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as tick } from 'node:timers/promises';
import type { HeldBytes } from '@slipway/platform-bounds';
import { upstreamFailed } from '../gateway.errors.js';
import { PassedStreamAnswer } from './passed-answer.js';
import { PublishedStreamAnswer } from './published-answer.js';
import { StreamWriter } from './stream-writer.js';

const HELD: HeldBytes = { take: () => undefined, give: () => undefined, release: () => undefined };

const SHAPE = { form: { members: { a: { scalar: true } } }, before: '' };

let server: Server;
let client: Socket;
let response: ServerResponse;
let writer: StreamWriter;
let received = '';

beforeEach(async () => {
  received = '';
  server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.setEncoding('latin1').write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  writer = new StreamWriter(response, 'latin1');
});

afterEach(() => {
  client.destroy();
  server.close();
});

async function until(text: string): Promise<string> {
  client.on('data', (piece: string) => (received += piece));
  for (const deadline = Date.now() + 2_000; !received.includes(text) && Date.now() < deadline;) await tick();
  return received.slice(received.indexOf('\r\n\r\n') + 4);
}

it('sends the head at the end of the tick, although no data has arrived yet', async () => {
  writer.begin(200, { 'x-own': '1' });
  expect(await until('\r\n\r\n')).toBe('');
  expect(received).toContain('x-own: 1');
  for (const header of ['x-accel-buffering: no', 'cache-control: no-cache']) expect(received).toContain(header);
});

it('sends the data of one tick in one piece, and does not wait for more in the next tick', async () => {
  writer.begin(200, {});
  for (const text of ['a', '', 'b', '\xe9']) expect(writer.write(text)).toBe(true);
  await tick();
  writer.write('c');
  await tick();
  writer.write('d');
  writer.end('e');
  expect(await until('0\r\n\r\n')).toBe('3\r\nab\xe9\r\n1\r\nc\r\n2\r\nde\r\n0\r\n\r\n');
});

it('flushes pending text at once, so that something else can follow it', async () => {
  writer.begin(200, {});
  writer.write('a');
  writer.flush();
  response.end('b');
  expect(await until('0\r\n\r\n')).toBe('1\r\na\r\n1\r\nb\r\n0\r\n\r\n');
});

it.each([
  ['passed on', () => new PassedStreamAnswer(response, {}, Buffer.from('"m"'))],
  [
    'rebuilt',
    () => new PublishedStreamAnswer({ response, own: {}, bytes: HELD, path: '', shape: SHAPE, parameters: [] }),
  ],
])('sends what came before an error first, if a stream is %s', async (_how, answerOf) => {
  const answer = answerOf();
  answer.begin(200, { 'content-type': 'text/event-stream' });
  answer.data(Buffer.from('data: {"a":1}\n\n'));
  answer.cut(upstreamFailed());
  expect(await until('error')).toMatch(/data: {"a":1}\n\n[^]*data: {"error"/);
});

it('reports when the client is behind, and the response reports when it has caught up', async () => {
  client.pause();
  writer.begin(200, {});
  const piece = 'x'.repeat(64 * 1024);
  let written = 0;
  for (let isTaken = true; isTaken && written < 1_000; written += 1) {
    isTaken = writer.write(piece);
    await tick();
  }
  expect(written).toBeLessThan(1_000);
  const drained = once(response, 'drain');
  client.resume();
  await drained;
  expect(writer.write('more')).toBe(true);
});

it('writes nothing to a client that has disconnected', async () => {
  const errors: unknown[] = [];
  response.on('error', (error) => errors.push(error));
  writer.begin(200, {});
  writer.write('a');
  response.destroy();
  await tick();
  writer.write('b');
  await tick();
  expect(errors).toEqual([]);
});

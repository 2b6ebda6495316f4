import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import { afterEach, expect, it } from '@jest/globals';
import { Client, type Dispatcher } from 'undici';
import { DecodedAnswer } from './decoded-answer.js';

const MIB = 1024 * 1024;

let server: Server | undefined;
let client: Client | undefined;
afterEach(stop);

async function stop(): Promise<void> {
  await client?.destroy();
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
}

/** An answer as its handler receives it. */
interface HandledAnswer {
  headers: Record<string, unknown>;
  text: string;
  size: number;
  error?: Error;
}

async function seen(behaviour: RequestListener, onData?: (controller: Dispatcher.DispatchController) => void) {
  await stop();
  server = createServer(behaviour);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return new Promise<HandledAnswer>((resolve) => {
    const result: HandledAnswer = { headers: {}, text: '', size: 0 };
    let controller: Dispatcher.DispatchController;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (of) => void (controller = of),
      onResponseStart: (_controller, _status, headers) => void (result.headers = headers),
      onResponseData: (_controller, chunk) => {
        result.size += chunk.length;
        if (result.size < MIB) result.text += chunk.toString();
        onData?.(controller);
      },
      onResponseEnd: () => resolve(result),
      onResponseError: (_controller, error) => resolve({ ...result, error }),
    };
    client!.dispatch({ path: '/', method: 'POST', body: '{}' }, new DecodedAnswer(handler));
  });
}

const coded =
  (bytes: Buffer, coding = 'gzip'): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-encoding': coding, 'content-length': bytes.length }).end(bytes);

it('passes an answer without an encoding unchanged', async () => {
  const answer = await seen((_request, response) => response.writeHead(200, { 'content-length': 1 }).end('a'));
  expect(answer).toMatchObject({ text: 'a', headers: { 'content-length': '1' } });
});

it('decodes an answer and removes the headers of its coded form', async () => {
  const answer = await seen(coded(gzipSync('{"a":1}'), ' X-GZip'));
  expect([answer.text, answer.error]).toEqual(['{"a":1}', undefined]);
  expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining(['content-encoding']));
  expect(answer.headers['content-length']).toBeUndefined();
});

it('decodes an event as soon as it arrives', async () => {
  let more: () => void = () => undefined;
  const behaviour: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    const gzip = createGzip();
    gzip.pipe(response);
    gzip.write('data: 1\n\n');
    gzip.flush();
    more = () => gzip.end('data: 2\n\n');
  };
  const answer = await seen(behaviour, () => more());
  expect(answer.text).toBe('data: 1\n\ndata: 2\n\n');
});

it.each(['gzip, gzip', 'zstd', 'constructor', 'gzip, identity'])('passes %s unchanged', async (coding) => {
  const answer = await seen(coded(Buffer.from('abc'), coding));
  expect([answer.text, answer.headers['content-encoding']]).toEqual(['abc', coding]);
});

it('ends an empty answer, and fails one that is cut or broken', async () => {
  expect(await seen(coded(Buffer.alloc(0)))).toMatchObject({ size: 0 });
  const whole = gzipSync('{"a":1}');
  for (const bytes of [whole.subarray(0, whole.length - 9), Buffer.from('not coded at all')]) {
    const answer = await seen(coded(bytes));
    expect(answer.error?.message).toMatch(/unexpected end|incorrect header/);
  }
});

it('fails an answer that becomes more than a hundred times as long', async () => {
  const bomb = gzipSync(Buffer.alloc(20 * MIB));
  const answer = await seen(coded(bomb));
  expect(answer.error?.message).toBe('the decoded answer is too large');
  expect(answer.size).toBeLessThanOrEqual(101 * bomb.length);
  // A small answer may be repetitive.
  expect(await seen(coded(gzipSync(Buffer.alloc(MIB))))).toMatchObject({ size: MIB });
});

it('waits while its reader pauses, and stops when its reader aborts', async () => {
  const long = gzipSync(Buffer.from(Array.from({ length: 200_000 }, (_, n) => n).join()));
  let paused = 0;
  const slow = await seen(coded(long), (controller) => {
    controller.pause();
    paused += controller.paused ? 1 : 0;
    setImmediate(() => controller.resume());
  });
  expect([slow.error, slow.size]).toEqual([undefined, 1_288_889]);
  expect(paused).toBeGreaterThan(10);
  const aborted = await seen(coded(long), (controller) => controller.abort(new Error('enough')));
  expect(aborted.error?.message).toBe('enough');
  expect(aborted.size).toBeLessThan(100_000);
});

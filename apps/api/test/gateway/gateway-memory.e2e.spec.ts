import { type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Agent, request } from 'undici';
import { Stack, until } from '../harness/stack.js';

/*
 * The memory that answers take in the gateway. The nightly level sets the variable; it takes about eight minutes. For other
 * numbers: SLIPWAY_TEST_GATEWAY_MEMORY='{"streams": 300, "minutes": 1}'.
 */
const SETTING = process.env['SLIPWAY_TEST_GATEWAY_MEMORY'];
const { streams: STREAMS, minutes: MINUTES } = { streams: 900, minutes: 5, ...(JSON.parse(SETTING ?? '{}') as object) };
const STREAM_BYTES = 384 * 1024;
const PIECE_BYTES = 8 * 1024;
const MOST_MORE_BYTES = 32 * 1024;
const ENDLESS = 8;
const MOST_GROWTH = 1.05;
const IDLE_MS = 4_000;

jest.setTimeout((MINUTES + 8) * 60_000);

const event = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`;
const EVENT = event('a'.repeat(900));
/** Lines without an end, of each kind that a reader could keep. */
const UNTERMINATED = ['data: {"choices":[{"index":0,"delta":{"content":"', ': ', 'x-field: ', 'event: ', ''];

(SETTING === undefined ? describe.skip : describe)('memory of the gateway', () => {
  let stack: Stack;
  let upstream: Server;
  let gateway: ChildProcess;
  let agent: Agent;
  const endless = new Set<ServerResponse>();

  beforeAll(async () => {
    stack = await Stack.start();
    upstream = createServer(answer);
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    await stack.slipway().deployments.create({ name: 'chat' });
    const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url } };
    const id = await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } });
    expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
  });
  afterAll(async () => {
    await agent?.destroy();
    upstream?.closeAllConnections();
    upstream?.close();
    await stack?.stop();
  });

  /** Answers what the client requests as its first message. */
  function answer(incoming: NodeJS.ReadableStream & { method?: string }, response: ServerResponse): void {
    let body = '';
    incoming.on('data', (chunk) => (body += String(chunk)));
    incoming.on('end', () => {
      const { messages: [{ content = '' } = {}] = [] } = (body === '' ? {} : JSON.parse(body)) as {
        messages?: { content?: string }[];
      };
      if (incoming.method === 'GET' || !content.startsWith('stream:')) {
        const message = { role: 'assistant', content: 'a' };
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: [{ id: 'm' }], choices }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const [, kind, number] = content.split(':');
      if (kind === 'endless') endlessly(response);
      else void slowly(response, kind === 'terminated' ? undefined : Number(number) % UNTERMINATED.length);
    });
  }

  async function slowly(response: ServerResponse, unterminated: number | undefined): Promise<void> {
    const begin = unterminated === undefined ? '' : UNTERMINATED[unterminated];
    response.write(EVENT + begin);
    const piece = unterminated === undefined ? EVENT.repeat(PIECE_BYTES / 1024) : 'a'.repeat(PIECE_BYTES);
    for (let sent = 0; sent < STREAM_BYTES && !response.destroyed; sent += piece.length) {
      response.write(piece);
      await delay(100);
    }
  }

  function endlessly(response: ServerResponse): void {
    endless.add(response);
    const text = event('a').repeat(100);
    const write = (): void => {
      while (endless.has(response) && !response.destroyed && response.write(text));
    };
    response.on('drain', () => setImmediate(write));
    write();
  }

  async function freshGateway(): Promise<void> {
    await agent?.destroy();
    await stack.kill('gateway');
    gateway = stack.spawn('gateway');
    await stack.ready();
    agent = new Agent({ connections: 2 * STREAMS, headersTimeout: 0, bodyTimeout: 0 });
    await until('the gateway serves', async () => (await open('warm', 0)).status === 200);
  }

  /** Opens a stream and reads it. `bytes` counts what has arrived. */
  async function open(kind: string, number: number): Promise<{ status: number; bytes: () => number }> {
    let bytes = 0;
    const { statusCode, body } = await request(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'chat',
        stream: kind !== 'warm',
        messages: [{ role: 'user', content: `stream:${kind}:${number}` }],
      }),
    });
    body.on('data', (chunk: Buffer) => (bytes += chunk.length));
    body.on('error', () => undefined);
    return { status: statusCode, bytes: () => bytes };
  }

  /** Resident memory in bytes: the least of some seconds, because garbage comes and goes. */
  async function resident(): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (const end = Date.now() + IDLE_MS; Date.now() < end; await delay(200)) {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
      least = Math.min(least, Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024);
    }
    return least;
  }

  async function held(): Promise<number> {
    const answered = await fetch(`${stack.gatewayUrl}/metrics`, {
      headers: { authorization: `Bearer ${stack.token}` },
    });
    return Number(/^slipway_gateway_held_bytes(?:\{[^}]*\})? (\S+)$/m.exec(await answered.text())?.[1]);
  }

  /** The gateway's memory while all streams of a kind are open and have brought their bytes. */
  async function withStreams(kind: string): Promise<{ resident: number; held: number }> {
    await freshGateway();
    const opened = await Promise.all(Array.from({ length: STREAMS }, (_, number) => open(kind, number)));
    expect(opened.filter(({ status }) => status !== 200)).toEqual([]);
    await until('all bytes have arrived', async () => opened.every(({ bytes }) => bytes() >= STREAM_BYTES), 120_000);
    return { resident: await resident(), held: await held() };
  }

  it(`grows by at most ${MOST_MORE_BYTES / 1024} KiB for a stream whose line does not end, and counts what it holds`, async () => {
    const ended = await withStreams('terminated');
    const unended = await withStreams('unterminated');
    const more = (unended.resident - ended.resident) / STREAMS;
    process.stderr.write(
      `${STREAMS} streams: ${Math.round(more / 1024)} KiB more each, ${JSON.stringify({ ended, unended })}\n`,
    );
    expect(more).toBeLessThanOrEqual(MOST_MORE_BYTES);
    expect(unended.held).toBeGreaterThanOrEqual(ended.held);
    expect(unended.held / STREAMS).toBeLessThanOrEqual(MOST_MORE_BYTES);
  });

  it(`does not grow with ${ENDLESS} endless streams after ${(MINUTES * 2) / 5} of ${MINUTES} minutes`, async () => {
    await freshGateway();
    const opened = await Promise.all(Array.from({ length: ENDLESS }, (_, number) => open('endless', number)));
    await delay((MINUTES * 60_000 * 2) / 5);
    const early = await resident();
    await delay((MINUTES * 60_000 * 3) / 5 - IDLE_MS);
    const late = await resident();
    const bytes = opened.reduce((sum, stream) => sum + stream.bytes(), 0);
    endless.clear();
    process.stderr.write(`${ENDLESS} endless streams, ${bytes} bytes: ${early} and ${late} bytes of memory\n`);
    expect(opened.every((stream) => stream.bytes() > 1024 * 1024)).toBe(true);
    expect(late / early).toBeLessThanOrEqual(MOST_GROWTH);
  });
});

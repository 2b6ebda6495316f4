import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Agent, request } from 'undici';
import { Stack, until } from '../harness/stack.js';

/*
 * The memory of the gateway with streams that never end. The nightly level sets the variable to the minutes that it
 * takes; `libs/gateway/test/held-memory.int.spec.ts` measures single streams.
 */
const SETTING = process.env['SLIPWAY_TEST_GATEWAY_MINUTES'];
const MINUTES = Number(SETTING ?? 5);
const STREAMS = 8;
const MOST_GROWTH = 1.05;
const MEASURED_MS = 10_000;

jest.setTimeout((MINUTES + 3) * 60_000);

const EVENTS =
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] })}\n\n`.repeat(100);
const COMPLETION = JSON.stringify({
  data: [{ id: 'm' }],
  choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
});

(SETTING === undefined ? describe.skip : describe)('memory of the gateway', () => {
  let stack: Stack;
  let upstream: Server;
  let gateway: ChildProcess;
  const agent = new Agent({ connections: STREAMS + 1, headersTimeout: 0, bodyTimeout: 0 });

  beforeAll(async () => {
    stack = await Stack.start();
    gateway = stack.spawn('gateway');
    await stack.ready();
    upstream = createServer(answer);
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    await stack.slipway().deployments.create({ name: 'chat' });
    const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url } };
    const id = await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } });
    expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
    await until('the gateway serves', async () => (await open(false)).status === 200);
  });
  afterAll(async () => {
    await agent.destroy();
    upstream?.closeAllConnections();
    upstream?.close();
    await stack?.stop();
  });

  function answer(incoming: IncomingMessage, response: ServerResponse): void {
    let body = '';
    incoming.on('data', (chunk) => (body += String(chunk)));
    incoming.on('end', () => {
      if (!body.includes('"stream":true')) {
        response.setHeader('content-type', 'application/json').end(COMPLETION);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (): void => {
        while (!response.destroyed && response.write(EVENTS));
      };
      response.on('drain', () => setImmediate(write));
      write();
    });
  }

  /** Sends a request and reads its answer. `bytes` counts what has arrived. */
  async function open(stream: boolean): Promise<{ status: number; bytes: () => number }> {
    let bytes = 0;
    const { statusCode, body } = await request(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', stream, messages: [{ role: 'user', content: 'hi' }] }),
    });
    body.on('data', (chunk: Buffer) => (bytes += chunk.length));
    body.on('error', () => undefined);
    return { status: statusCode, bytes: () => bytes };
  }

  /** Resident memory in bytes: the least of some seconds, because garbage comes and goes. */
  async function resident(): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (const end = Date.now() + MEASURED_MS; Date.now() < end; await delay(200)) {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
      least = Math.min(least, Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024);
    }
    return least;
  }

  it(`does not grow with ${STREAMS} endless streams after two fifths of ${MINUTES} minutes`, async () => {
    const opened = await Promise.all(Array.from({ length: STREAMS }, () => open(true)));
    await delay(MINUTES * 24_000);
    const early = await resident();
    await delay(MINUTES * 36_000 - MEASURED_MS);
    const late = await resident();
    const bytes = opened.map((stream) => stream.bytes());
    process.stderr.write(`${bytes.join(' ')} bytes; ${early} and then ${late} bytes of memory\n`);
    expect(Math.min(...bytes)).toBeGreaterThan(1024 * 1024);
    expect(late / early).toBeLessThanOrEqual(MOST_GROWTH);
  });
});

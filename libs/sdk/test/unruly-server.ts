import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Slipway, type SlipwayOptions } from '../src/index.js';

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Resolves when the connection has closed, from either side. */
  closed: Promise<void>;
}

export type UnrulyAnswer = (response: ServerResponse, seen: ReceivedRequest) => unknown;

/** A server on a real socket with configurable answers: one for each request, and the last one stays. */
export class UnrulyServer {
  readonly seen: ReceivedRequest[] = [];
  private answers: UnrulyAnswer[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<UnrulyServer> {
    const server = createServer();
    const unruly = new UnrulyServer(server);
    server.on('request', (request, response) => void unruly.take(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return unruly;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets the answers and forgets the received requests. */
  does(...answers: UnrulyAnswer[]): void {
    this.answers = answers;
    this.seen.length = 0;
  }

  client(options: Partial<SlipwayOptions> = {}): Slipway {
    return new Slipway({ baseUrl: this.url, token: 'slw_a_b', ...options });
  }

  /** Resolves once that many requests have arrived. */
  async until(count: number): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (this.seen.length < count) {
      if (Date.now() > deadline) throw new Error(`${this.seen.length} requests have come, not ${count}`);
      await delay(5);
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<void>((resolve) => response.on('close', resolve));
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(chunks).toString(), closed };
    this.seen.push(seen);
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    await answer?.(response, seen);
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): UnrulyAnswer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** A refusal in the form of the api. */
export const refusal = (
  status: number,
  code: string,
  retryable: boolean,
  headers: Record<string, string> = {},
): UnrulyAnswer =>
  json(
    status,
    { error: { code, message: `no: ${code}`, category: 'internal', remediation: '', request_id: 'req_1', retryable } },
    headers,
  );

/** Breaks the connection without an answer. */
export const cut: UnrulyAnswer = (response) => response.socket?.destroy();

/** Never answers. */
export const silent: UnrulyAnswer = () => undefined;

/** A stream of these bytes. It stays open unless it ends or is cut. */
export const stream =
  (text: string, then: 'open' | 'end' | 'cut' = 'open'): UnrulyAnswer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (then === 'end') response.end();
      // Delayed until the bytes have left: a response that is destroyed at once may never have been sent.
      if (then === 'cut') setTimeout(() => response.destroy(), 20);
    });
  };

export const event = (sequence: number, type = 'route.updated'): string =>
  `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify({ sequence, type, data: {} })}\n\n`;

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
}

type UpstreamBehaviour = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

/** A model server on a real socket. It names itself, behaves as the test wants, and records its requests. */
export class TestUpstream {
  readonly seen: SeenRequest[] = [];
  /** Answers that the other side closed before they ended. */
  cancelled = 0;
  behaviour: UpstreamBehaviour;
  private readonly sockets = new Set<Socket>();

  private constructor(
    readonly name: string,
    private readonly server: Server,
  ) {
    this.behaviour = (request, response) => this.answer(request, response);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, response) => {
      // A gateway asks a server that the control plane doubts.
      if (request.method === 'GET') return void response.end('{"data":[]}');
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const seen = {
          path: request.url as string,
          headers: request.headers,
          text,
          body: JSON.parse(text) as Record<string, unknown>,
        };
        this.seen.push(seen);
        response.on('close', () => {
          if (!response.writableFinished) this.cancelled += 1;
        });
        void this.behaviour(seen, response);
      });
    });
  }

  static async start(name: string, port = 0): Promise<TestUpstream> {
    const server = createServer();
    const upstream = new TestUpstream(name, server);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return upstream;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Stops as in a crash: nothing is finished. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  answer(request: SeenRequest, response: ServerResponse): void {
    if (request.path.endsWith('/embeddings')) {
      // The official client requests base64 of little-endian floats.
      const embedding =
        request.body['encoding_format'] === 'base64'
          ? Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64')
          : [0.5, -1];
      respondJson(response, 200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding }],
        model: request.body['model'],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      });
      return;
    }
    if (request.body['stream'] === true) {
      void this.stream(request, response, { tokens: 3, gapMs: 1 });
      return;
    }
    respondJson(response, 200, {
      id: `chatcmpl-${this.name}`,
      object: 'chat.completion',
      created: 1,
      model: request.body['model'],
      system_fingerprint: `fp-${this.name}`,
      choices: [{ index: 0, message: { role: 'assistant', content: `answer of ${this.name}` }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
  }

  async stream(
    request: SeenRequest,
    response: ServerResponse,
    pace: { tokens: number; gapMs: number; firstMs?: number },
  ): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream', server: this.name });
    const send = (choice: unknown, extra: object = {}): void => {
      const chunk = {
        id: `chatcmpl-${this.name}`,
        object: 'chat.completion.chunk',
        created: 1,
        model: request.body['model'],
        choices: [choice],
        ...extra,
      };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    send({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null });
    await after(pace.firstMs ?? 0);
    for (let token = 0; token < pace.tokens && !response.destroyed; token += 1) {
      send({ index: 0, delta: { content: `${this.name}${token} ` }, finish_reason: null });
      await after(pace.gapMs);
    }
    send({ index: 0, delta: {}, finish_reason: 'stop' });
    response.end('data: [DONE]\n\n');
  }
}

export function respondJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** The pace of the simulated model; no test waits for anything with it. */
function after(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

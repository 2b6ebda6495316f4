import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedRequest {
  method: string;
  url: string;
  headers: Record<string, unknown>;
  body: string;
}

/** A sandbox of another provider. It answers each request with 200 by default, and repeats the headers. */
export class FakeProvider {
  /** Used instead of a status: do not answer before `release` is called. */
  static readonly SLOW = 0;

  received: ReceivedRequest[] = [];
  /** The statuses of the next answers. */
  answers: number[] = [];
  /** `Retry-After` of each answer. */
  retryAfter: string | undefined;
  release: () => void = () => undefined;
  /** Connections that ended before their answer was sent. */
  closed = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeProvider> {
    const server = createServer();
    const provider = new FakeProvider(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const answer = provider.answers.shift() ?? 200;
        const { method, url, headers } = request;
        provider.received.push({ method: method!, url: url!, headers, body: Buffer.concat(chunks).toString() });
        response.on('close', () => (provider.closed += response.writableFinished ? 0 : 1));
        const more = provider.retryAfter === undefined ? {} : { 'retry-after': provider.retryAfter };
        const give = () =>
          response.writeHead(answer === FakeProvider.SLOW ? 200 : answer, more).end(`echo ${JSON.stringify(headers)}`);
        if (answer === FakeProvider.SLOW) provider.release = give;
        else give();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

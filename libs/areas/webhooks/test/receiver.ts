import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedDelivery {
  headers: IncomingHttpHeaders;
  body: string;
  event: any;
}

/** A receiver of webhooks on a real socket. `behave` answers; the default accepts. */
export class Receiver {
  readonly received: ReceivedDelivery[] = [];
  behave: (request: ReceivedDelivery, response: ServerResponse) => void = (_request, response) =>
    response.writeHead(204).end();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const body = Buffer.concat(chunks).toString();
          const one = { headers: request.headers, body, event: JSON.parse(body) };
          receiver.received.push(one);
          receiver.behave(one, response);
        });
    });
    const receiver = new Receiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook?source=slipway`;
  }

  /** Ids of the events in the order of their arrival. */
  get ids(): string[] {
    return this.received.map(({ headers }) => String(headers['webhook-id']));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A valid OpenAI-compatible server of the model `sim`. Tests can make it hold its completions. */
export class Supplier {
  /** Counts the requested completions, without streams and unknown models. */
  completions = 0;
  /** Answers that wait while completions are held. */
  private held: (() => void)[] = [];
  private isHolding = false;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Supplier> {
    const server = createServer((request, response) => {
      let text = '';
      request
        .on('data', (chunk) => (text += String(chunk)))
        .on('end', () => supplier.answer(request.url ?? '', text === '' ? {} : JSON.parse(text), response));
    });
    const supplier = new Supplier(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return supplier;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  hold(): void {
    this.isHolding = true;
  }

  release(): void {
    this.isHolding = false;
    for (const answer of this.held.splice(0)) answer();
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private answer(url: string, body: { model?: string; stream?: boolean }, response: ServerResponse): void {
    if (url.endsWith('/models')) return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'sim' }] }));
    if (body.model !== 'sim') return void response.writeHead(404).end('{"error":{"message":"no such model"}}');
    if (body.stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end('data: {"choices":[{"index":0,"delta":{"content":"yes"}}]}\n\ndata: [DONE]\n\n');
    }
    this.completions += 1;
    const message = { role: 'assistant', content: 'yes' };
    const completion = () =>
      void response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    if (this.isHolding) this.held.push(completion);
    else completion();
  }
}

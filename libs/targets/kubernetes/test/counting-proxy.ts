import { createServer, request as forwarded, type Server, type ServerResponse } from 'node:http';
import { request as forwardedSecurely } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubeCluster } from '../src/api/cluster.js';

export interface CountedCall {
  method: string;
  path: string;
  /** Of the answer; 0 while there is none. */
  status: number;
}

/** An answer of the proxy itself, instead of the server's. */
export interface ProxyAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A proxy before an API server that counts all calls, and answers them itself on request. */
export class CountingProxy {
  readonly calls: CountedCall[] = [];
  /** Replaces the server's answers. */
  refuse?: (call: CountedCall) => ProxyAnswer | undefined;
  private readonly open = new Set<ServerResponse>();

  private constructor(
    private readonly server: Server,
    private readonly target: { server: string; ca?: string },
  ) {}

  static async start(target: { server: string; ca?: string }): Promise<CountingProxy> {
    const server = createServer();
    const proxy = new CountingProxy(server, target);
    server.on('request', (incoming, response) => {
      const call = { method: incoming.method ?? '', path: incoming.url ?? '', status: 0 };
      proxy.calls.push(call);
      const own = proxy.refuse?.(call);
      if (own) {
        call.status = own.status;
        incoming.resume();
        return void response.writeHead(own.status, own.headers).end(own.body ?? '');
      }
      proxy.open.add(response);
      response.on('close', () => proxy.open.delete(response));
      const send = target.server.startsWith('https:') ? forwardedSecurely : forwarded;
      const { host: _host, ...headers } = incoming.headers;
      const outgoing = send(`${target.server}${incoming.url}`, {
        method: incoming.method,
        headers,
        ...(target.ca !== undefined && { ca: target.ca }),
      });
      outgoing.on('response', (answer) => {
        call.status = answer.statusCode ?? 0;
        response.writeHead(call.status, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
      outgoing.on('error', () => response.destroy());
      response.on('close', () => outgoing.destroy());
      incoming.pipe(outgoing);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  /** The cluster with an account, through the proxy. */
  cluster(token: string): KubeCluster {
    return {
      server: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`,
      tls: { rejectUnauthorized: true },
      authorization: async () => `Bearer ${token}`,
      forget: () => undefined,
      close: () => undefined,
    };
  }

  /** Breaks the answers in progress, such as watches. */
  cut(): void {
    for (const response of this.open) response.destroy();
  }

  /** The number of calls within the time, after which `during` is checked no more. */
  async count(ms: number, during?: () => Promise<unknown>): Promise<number> {
    const before = this.calls.length;
    const end = Date.now() + ms;
    while (Date.now() < end) {
      await during?.();
      await new Promise((done) => setTimeout(done, 100));
    }
    return this.calls.length - before;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { createServer, request as forward, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '@slipway/platform-database/testing';
import { until } from './stack.js';

/**
 * Answers a chat request in place of the server behind a proxy.
 * @param request its number, from 1, and the address that it would have at the server
 * @returns false to leave it to the server
 */
export type ProxyAnswer = (response: ServerResponse, request: { count: number; url: string }) => boolean;

/** Model servers that a test starts as their operator would, and proxies in front of them. */
export class EngineServers {
  private readonly children = new Set<ChildProcess>();
  private readonly proxies = new Set<Server>();

  /** Starts a server that has `/health`. @param argv its arguments, for a free port */
  async start(program: string, argv: (port: number) => string[], options: SpawnOptions = {}) {
    const port = await freePort();
    const child = spawn(program, argv(port), { stdio: 'ignore', ...options });
    this.add(child);
    const url = `http://127.0.0.1:${port}`;
    const isWell = () =>
      fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the server is ready', isWell);
    return { url, pid: child.pid as number };
  }

  /** Ends another process with the servers. */
  add(child: ChildProcess): void {
    this.children.add(child);
  }

  /** Puts a proxy in front of a server. Returns its address. */
  async proxyTo(url: string, answer: ProxyAnswer): Promise<string> {
    let count = 0;
    const proxy = createServer((request, response) => {
      const to = `${url}${request.url}`;
      if (request.url === '/v1/chat/completions' && answer(response, { count: (count += 1), url: to })) return;
      const { method, headers } = request;
      const passed = forward(to, { method, headers }, (answered) => {
        response.writeHead(answered.statusCode as number, answered.headers);
        answered.pipe(response);
      });
      request.pipe(passed.on('error', () => response.destroy()));
    });
    this.proxies.add(proxy);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }

  stop(): void {
    for (const child of this.children) child.kill('SIGKILL');
    for (const proxy of this.proxies) {
      proxy.closeAllConnections();
      proxy.close();
    }
  }
}

import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

export interface ProxiedCall {
  method: string;
  /** The whole address for http, `host:port` for a tunnel. */
  url: string;
  authorization: string | undefined;
}

/**
 * A proxy on a real socket. It leads every name to one server, so that tests can call names that no resolver knows.
 */
export class ProxyServer {
  readonly seen: ProxiedCall[] = [];
  /** The status with which it refuses, such as 407. */
  refusesWith: number | undefined;

  private constructor(
    private readonly server: Server,
    private readonly port: () => number,
  ) {}

  static async start(port: () => number): Promise<ProxyServer> {
    const server = createServer();
    const proxy = new ProxyServer(server, port);
    server.on('request', (incoming, outgoing) => {
      proxy.see(incoming);
      if (proxy.refusesWith !== undefined) return void outgoing.writeHead(proxy.refusesWith).end('refused');
      const { pathname, search } = new URL(incoming.url!);
      const { 'proxy-authorization': _own, ...headers } = incoming.headers;
      const { method } = incoming;
      const onward = request(
        { host: '127.0.0.1', port: port(), method, headers, path: pathname + search },
        (answer) => {
          outgoing.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(outgoing);
        },
      );
      outgoing.on('close', () => onward.destroy());
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    });
    server.on('connect', (incoming, socket, head) => {
      proxy.see(incoming);
      socket.on('error', () => undefined);
      if (proxy.refusesWith !== undefined) return void socket.end(`HTTP/1.1 ${proxy.refusesWith} Refused\r\n\r\n`);
      const onward = connect(proxy.port(), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connected\r\n\r\n');
        onward.write(head);
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
      onward.on('close', () => socket.destroy());
      socket.on('close', () => onward.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** `127.0.0.1:1234`, without a scheme, as many write it. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private see({ method = '', url = '', headers }: IncomingMessage): void {
    this.seen.push({ method, url, authorization: headers['proxy-authorization'] });
  }
}

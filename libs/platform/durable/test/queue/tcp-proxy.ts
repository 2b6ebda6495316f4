import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A proxy between a client and a server, so that a test can take the server away and bring it back at the same address.
 */
export class TcpProxy {
  private server?: Server;
  private readonly sockets = new Set<Socket>();
  private port = 0;

  constructor(private readonly target: { host: string; port: number }) {}

  /**
   * The proxied form of a URL whose host and port are the target's. It listens on a port, even if the proxy starts cut.
   */
  async address(original: string): Promise<string> {
    if (!this.port) {
      await this.restore();
    }
    const url = new URL(original);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.toString();
  }

  async cut(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    const closed = server && new Promise((resolve) => server.close(resolve));
    this.dropConnections();
    await closed;
  }

  async restore(): Promise<void> {
    if (this.server) return;
    const server = createServer((downstream) => this.join(downstream));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * The peers of all current connections vanish silently: no data moves on them any more. New connections are served.
   */
  vanish(): void {
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.resume();
      socket.removeAllListeners('end');
    }
  }

  private join(downstream: Socket): void {
    const upstream = connect(this.target.port, this.target.host);
    for (const [from, to] of [
      [downstream, upstream],
      [upstream, downstream],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}

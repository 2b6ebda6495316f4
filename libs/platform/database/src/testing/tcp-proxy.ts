import net from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * A proxy between a process and Postgres that can make Postgres unavailable: refused, cut, or silent like a dead
 * network. Toxiproxy does the same, but is a server that must be installed.
 */
export class TcpProxy {
  private mode: 'open' | 'refusing' | 'silent' = 'open';
  private readonly sockets = new Set<net.Socket>();
  private readonly vanished = new WeakSet<net.Socket>();

  private constructor(
    private readonly server: net.Server,
    private readonly target: { host: string; port: number },
  ) {
    server.on('connection', (client) => this.connect(client));
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const server = net.createServer();
    const proxy = new TcpProxy(server, target);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Returns the url of a database, through this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(this.port);
    return changed.toString();
  }

  restore(): void {
    this.mode = 'open';
    this.cut();
  }

  refuse(): void {
    this.mode = 'refusing';
    this.cut();
  }

  /** Keeps connections open, and transfers nothing on them. */
  silence(): void {
    this.mode = 'silent';
  }

  /**
   * Simulates peers that vanished silently: the present connections transfer nothing any more, and new ones are served.
   */
  vanish(): void {
    for (const socket of this.sockets) this.vanished.add(socket);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private connect(client: net.Socket): void {
    this.keep(client);
    if (this.mode === 'refusing') {
      client.destroy();
      return;
    }
    const upstream = net.connect(this.target.port, this.target.host);
    this.keep(upstream);
    const isOpen = (): boolean => this.mode === 'open' && !this.vanished.has(client);
    client.on('data', (chunk) => isOpen() && upstream.write(chunk));
    upstream.on('data', (chunk) => isOpen() && client.write(chunk));
    // Data of a closed end still reaches the other one.
    client.on('close', () => upstream.destroySoon());
    upstream.on('close', () => client.destroySoon());
  }

  private keep(socket: net.Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
  }
}

import net from 'node:net';

/**
 * A proxy in front of the API server that can drop traffic silently, like a firewall that has lost the state of a
 * connection.
 */
export class SwallowingProxy {
  private readonly pairs = new Set<{ client: net.Socket; server: net.Socket }>();
  private isSwallowing = false;
  private connected = 0;

  private constructor(
    private readonly listener: net.Server,
    private readonly target: { host: string; port: number },
  ) {
    listener.on('connection', (client) => this.join(client));
  }

  static async start(server: string): Promise<SwallowingProxy> {
    const { hostname, port } = new URL(server);
    const listener = net.createServer();
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(0, '127.0.0.1', () => resolve());
    });
    return new SwallowingProxy(listener, { host: hostname, port: Number(port) });
  }

  /** Use this instead of the server's own URL: its certificate is valid for every port of 127.0.0.1. */
  get server(): string {
    return `https://127.0.0.1:${(this.listener.address() as net.AddressInfo).port}`;
  }

  /** Number of connections so far. */
  get connections(): number {
    return this.connected;
  }

  /** Number of open connections. */
  get open(): number {
    return this.pairs.size;
  }

  /** Connections stay open, but no data passes any more; new connections are treated in the same way. */
  swallow(): void {
    this.isSwallowing = true;
  }

  /** New connections pass data; earlier ones stay blocked. */
  pass(): void {
    this.isSwallowing = false;
  }

  /** Resets every open connection. */
  cut(): void {
    for (const { client, server } of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  private join(client: net.Socket): void {
    this.connected += 1;
    const server = net.connect(this.target);
    const pair = { client, server };
    this.pairs.add(pair);
    let isDead = this.isSwallowing;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => {
        isDead ||= this.isSwallowing;
        if (isDead || to.destroyed) return;
        // Writes at the speed of the slower side.
        if (!to.write(chunk)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
      from.on('error', () => undefined);
      from.once('close', () => {
        this.pairs.delete(pair);
        to.destroy();
      });
    }
  }
}

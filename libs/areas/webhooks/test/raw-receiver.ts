import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A server that answers bytes, not HTTP: each connection behaves as a test says once the first bytes have come. */
export class RawReceiver {
  private readonly sockets = new Set<Socket>();
  private readonly timers = new Set<NodeJS.Timeout>();

  private constructor(private readonly server: Server) {}

  static async start(behave: (socket: Socket, receiver: RawReceiver) => void): Promise<RawReceiver> {
    const server = createServer((socket) => {
      receiver.sockets.add(socket);
      socket.on('error', () => undefined).once('data', () => behave(socket, receiver));
    });
    const receiver = new RawReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** How many connections are open. */
  get open(): number {
    return [...this.sockets].filter(({ destroyed }) => !destroyed).length;
  }

  /** Writes the text again and again, without an end. */
  drip(socket: Socket, text: string, everyMs = 50): void {
    const timer = setInterval(() => socket.writable && socket.write(text), everyMs);
    this.timers.add(timer);
    socket.once('close', () => clearInterval(timer));
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Listens on a free port and sends it to the benchmark. Connections of the load stay open while other sides take their
 * turns.
 */
export function listen(server: Server, backlog?: number): void {
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1', backlog, () => process.send?.((server.address() as AddressInfo).port));
}

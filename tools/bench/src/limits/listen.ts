import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port and tells it to the benchmark. Connections of the load stay while others take their turn. */
export function listen(server: Server, backlog?: number): void {
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1', backlog, () => process.send?.((server.address() as AddressInfo).port));
}

import type { ClientBase } from 'pg';

/** Takes a connection away at once; what waits on it fails. `end` would wait for a peer that may be gone. */
export function cut(client: ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { GatewayError } from '../gateway.errors.js';

/** A client that waits this long learns that its stream was accepted. Before, an error can have its true status. */
export const HEAD_AFTER_MS = 5_000;

/** Turns an upstream answer into the client's. Order of calls: `begin`, any number of `data`, then `end` or `cut`. */
export interface ClientAnswer {
  begin(status: number, headers: IncomingHttpHeaders): void;
  /**
   * Returns false when the client reads slower than upstream writes: pause until the response drains.
   * @throws GatewayError when no more upstream data is wanted; `cut` follows
   */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Upstream stopped in the middle of its answer. */
  cut(error: GatewayError): void;
}

/** A broken stream can still carry the error; any other answer is destroyed, so that it does not seem complete. */
export function cutShort(response: ServerResponse, isStream: boolean, error: GatewayError): void {
  if (!isStream) {
    response.destroy();
    return;
  }
  response.write(`data: ${error.body()}\n\n`, () => response.destroy());
}

/** Sends an error in place of an answer of which nothing has been sent. */
export function sendGatewayError(response: ServerResponse, own: OutgoingHttpHeaders, error: GatewayError): void {
  response.writeHead(error.status, { 'content-type': 'application/json', ...error.headers, ...own });
  response.end(error.body());
}

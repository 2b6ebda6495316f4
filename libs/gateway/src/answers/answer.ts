import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { GatewayError } from '../gateway.errors.js';

/** How an upstream answer becomes the client's. Calls come in this order: `begin`, any number of `data`, then `end` or `cut`. */
export interface ClientAnswer {
  begin(status: number, headers: IncomingHttpHeaders): void;
  /**
   * False when the client reads slower than upstream writes: pause until the response drains.
   * @throws GatewayError when nothing more of upstream is wanted; `cut` follows
   */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Upstream stopped in the middle. */
  cut(error: GatewayError): void;
}

/** A stream can still say what happened; any other answer must break, so that it is not taken for a whole one. */
export function cutShort(response: ServerResponse, isStream: boolean, error: GatewayError): void {
  if (!isStream) {
    response.destroy();
    return;
  }
  response.write(`data: ${error.body()}\n\n`, () => response.destroy());
}

/** For an answer of which nothing has been sent. */
export function sendGatewayError(response: ServerResponse, own: OutgoingHttpHeaders, error: GatewayError): void {
  response.writeHead(error.status, { 'content-type': 'application/json', ...error.headers, ...own });
  response.end(error.body());
}

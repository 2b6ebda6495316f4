import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { errors } from '../errors/platform.errors.js';
import type { SlipwayError } from '../errors/slipway-error.js';
import { envelopeOf, errorHeaders } from './error-answer.js';

/**
 * Answers what Node's parser refused. No request object exists yet, so the answer is written to the socket by hand.
 * Node's default would be a bare status line.
 */
export function answerClientError(failure: Error & { code?: string }, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  // A second answer in the middle of the first would corrupt it.
  const inFlight = (socket as Socket & { _httpMessage?: { headersSent?: boolean } })._httpMessage;
  if (inFlight?.headersSent) {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(errorOf(failure.code)));
}

function errorOf(code: string | undefined): SlipwayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errors.request_timeout();
  if (code === 'HPE_HEADER_OVERFLOW') return errors.headers_too_large();
  if (code === 'HPE_INVALID_URL') return errors.path_invalid();
  return errors.invalid_parameter({
    message: 'The request is not valid HTTP.',
    remediation: 'Send a valid HTTP/1.1 request.',
  });
}

function rawAnswer(error: SlipwayError): string {
  const { headers, body } = answerOf(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function answerOf(error: SlipwayError): { headers: Record<string, string>; body: string } {
  const requestId = newRequestId();
  const body = JSON.stringify(envelopeOf(error, requestId));
  const headers = {
    ...errorHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
  };
  return { headers, body };
}

/** `Expect` with anything but 100-continue: Node would answer 417 without a body. */
export function answerUnknownExpectations(server: Server): void {
  server.on('checkExpectation', (_request, response) => {
    const error = errors.expectation_failed();
    const { headers, body } = answerOf(error);
    response.writeHead(error.status, headers).end(body);
  });
}

export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

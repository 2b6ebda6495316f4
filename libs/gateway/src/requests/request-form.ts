import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { lineOfUnknownMethod, type RefusedInput } from '@slipway/contracts';
import {
  errorBody,
  expectationFailed,
  invalidRequest,
  unsupportedTransferCoding,
  wrongMethod,
  type GatewayError,
} from '../gateway.errors.js';
import { EVERY_METHOD, refusalOf } from './paths.js';

/* The forms that HTTP allows for a request (RFC 9110 and 9112), apart from what a path does. */

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i;
const HOST = /^[\w.~%!$&'()*+,;=:[\]-]*$/;
/** How long the rest of a refused request is read. */
export const LINGER_MS = 1_000;

/** Returns the id that a client gave its request, or a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * Returns the path of a request target. Clients of a proxy send a whole URL, and an escaped letter means the letter.
 */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  let path = query < 0 ? target : target.slice(0, query);
  if (!path.startsWith('/')) path = path.replace(SCHEME_AND_AUTHORITY, (all) => (all === path ? '/' : ''));
  if (!path.includes('%')) return path;
  return path.replace(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
    const letter = String.fromCharCode(parseInt(hex, 16));
    return /[\w.~-]/.test(letter) ? letter : escape;
  });
}

/**
 * Refuses a request that another server on its way could understand differently, or that requires what no path offers.
 * @throws GatewayError 400, 417 or 501
 */
export function assertWellFormed({ headers, rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  const isOld = httpVersion === '1.0';
  if (hosts > 1 || (hosts === 0 && !isOld) || !HOST.test(headers.host ?? ''))
    throw invalidRequest('It needs exactly one valid Host header');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && isOld) throw invalidRequest('HTTP/1.0 has no Transfer-Encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw unsupportedTransferCoding();
  if (!isOld && headers.expect !== undefined && !isOnlyContinue(headers.expect)) throw expectationFailed();
}

/** Whether an `Expect` header asks for `100 Continue` and nothing else. */
export function isOnlyContinue(expect: string): boolean {
  return expect.split(',').every((one) => /^(?:100-continue)?$/i.test(one.trim()));
}

const RAW_REFUSALS: Readonly<Record<string, [status: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'The request headers are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
};

const refused = new WeakSet<Duplex>();

/** Answers input that never became a request. */
export function refuseRaw(error: NodeJS.ErrnoException & RefusedInput, socket: Duplex): void {
  // The rest of the refused input causes further errors, and closing now could lose the refusal.
  if (refused.has(socket) && error.code !== 'ECONNRESET') return;
  const { _httpMessage: current } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  // A refusal in the middle of another answer would look like a part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  const line = lineOfUnknownMethod(error);
  if (line) {
    const refusal = refusalOf(line.method, pathOf(line.target));
    sendRaw(socket, statusLineOf(refusal), refusal.body(), randomUUID(), allowLineOf(refusal));
    return;
  }
  const [status, code, message] = RAW_REFUSALS[error.code ?? ''] ?? [
    '400 Bad Request',
    'invalid_request',
    'The request is not valid HTTP.',
  ];
  sendRaw(socket, status, errorBody(message, 'invalid_request_error', null, code), randomUUID());
}

/** The gateway opens no connections for clients. */
export function refuseConnect(request: IncomingMessage, socket: Duplex): void {
  const error: GatewayError = wrongMethod('CONNECT', pathOf(request.url as string), EVERY_METHOD);
  socket.on('error', () => socket.destroy());
  sendRaw(socket, statusLineOf(error), error.body(), requestIdOf(request), allowLineOf(error));
}

function statusLineOf({ status }: GatewayError): string {
  return `${status} ${STATUS_CODES[status]}`;
}

function allowLineOf({ headers: { allow } }: GatewayError): string {
  return allow === undefined ? '' : `allow: ${allow}\r\n`;
}

function sendRaw(socket: Duplex, status: string, body: string, requestId: string, further = ''): void {
  refused.add(socket);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${further}x-request-id: ${requestId}\r\n\r\n${body}`,
  );
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

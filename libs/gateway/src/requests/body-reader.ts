import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, bodyTooSlow, unsupportedMediaType } from '../gateway.errors.js';

const SLOWEST_MS = 60_000;

/** Refused before a byte of the body is read. */
export function assertAcceptable(request: IncomingMessage, maxBytes: number): void {
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) throw unsupportedMediaType();
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedMediaType();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/** The client went away before its request was complete. There is nobody to answer. */
export class ClientGoneError extends Error {}

/** The whole body. @throws GatewayError 413 or 408, ClientGoneError */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => finish(bodyTooSlow()), SLOWEST_MS);
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) finish(bodyTooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => finish();
    const onGone = (): void => finish(new ClientGoneError());
    const finish = (error?: Error): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      if (error) {
        // Whatever follows a refused body is thrown away; an unheard 'error' event would end the process.
        request.on('error', () => undefined);
        reject(error);
        return;
      }
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
    };
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

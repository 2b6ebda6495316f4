import type { IncomingMessage } from 'node:http';
import { hasOtherContentType, hasUtf8Charset, mediaTypeOf } from '@slipway/contracts';
import { bodyTooLarge, bodyTooSlow, unsupportedMediaType } from '../gateway.errors.js';
import { CollectedBytes, type HeldBytes } from '@slipway/platform-bounds';
import { isCoded } from '../headers.js';
import { BodyScan, type RequestBody } from './request-body.js';

const SLOWEST_MS = 60_000;

/** Refuses a request before a byte of its body is read. @throws GatewayError 413 or 415 */
export function assertAcceptable(request: IncomingMessage, maxBytes: number): void {
  if (!isJson(request)) throw unsupportedMediaType();
  if (isCoded(request.headers)) throw unsupportedMediaType();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/** JSON is UTF-8, so a body in another charset would be misread. Some clients send no type. */
function isJson({ headers, rawHeaders }: IncomingMessage): boolean {
  const given = headers['content-type'];
  if (given === undefined) return true;
  if (hasOtherContentType(rawHeaders, given)) return false;
  if (given === 'application/json') return true;
  const media = mediaTypeOf(given);
  return media !== undefined && /^application\/(?:[^/]+\+)?json$/.test(media.type) && hasUtf8Charset(media);
}

/** The client disconnected before its request was complete. No answer is possible. */
export class ClientGoneError extends Error {}

/** Ends the reading of a body with an error. */
export type Refusal = (error: unknown) => void;

/**
 * Reads the whole body, and refuses it at its first byte that is invalid or too much.
 * @param waitsFor is called with what ends the reading, and with undefined when it is over
 * @throws GatewayError 400, 408, 413 or 503, ClientGoneError
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  bytes: HeldBytes,
  waitsFor?: (refuse: Refusal | undefined) => void,
): Promise<RequestBody> {
  return new Promise((resolve, reject) => {
    const body = new CollectedBytes();
    const scan = new BodyScan();
    // A flag, because removing four listeners costs more than leaving them on a request that ends.
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const onData = (chunk: Buffer): void => {
      if (isOver) return;
      try {
        if (body.size + chunk.length > maxBytes) throw bodyTooLarge(maxBytes);
        bytes.take(chunk.length);
        scan.push(chunk);
        body.push(chunk);
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = (): void => {
      if (isOver) return;
      try {
        const read = scan.end(body.whole());
        stop();
        resolve(read);
      } catch (error) {
        refuse(error);
      }
    };
    const onGone = (): void => {
      // Every request closes in the end, and an error that no code reads is expensive: it captures its stack.
      if (!isOver) refuse(new ClientGoneError());
    };
    const refuse = (error: unknown): void => {
      if (isOver) return;
      stop();
      reject(error);
    };
    const stop = (): void => {
      isOver = true;
      clearTimeout(timer);
      waitsFor?.(undefined);
    };
    waitsFor?.(refuse);
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
    // A short body has mostly arrived together with its head; then only its end is missing and no timer is needed.
    process.nextTick(() => {
      const hasCome = body.size === Number(request.headers['content-length']);
      if (!isOver && !hasCome) timer = setTimeout(() => refuse(bodyTooSlow()), SLOWEST_MS);
    });
  });
}
